//===- Transposes.cpp - transposes of few axes ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AxisMerger.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Blocks.h"
#include "lib/Ops/Rows/Blocks.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;
using namespace anec::ranks;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Any transpose
//===----------------------------------------------------------------------===//

namespace {
/// A permutation of blocks of elements: those of a value in their order, with
/// `order[i]` the block that comes to place i.
struct AxisBlocks {
  Shape extents;
  Shape order;

  /// Without blocks of one element, and with those that travel together as one.
  AxisBlocks simplified() const;
};
} // namespace

AxisBlocks AxisBlocks::simplified() const {
  // Runs of blocks that follow each other before and after.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 8> runs; // first, extent
  int64_t next = -1;
  for (int64_t block : order) {
    if (extents[block] == 1)
      continue;
    // Blocks of one element in between do not separate.
    bool follows = next >= 0 && block >= next;
    for (int64_t i = next; follows && i < block; ++i)
      follows = extents[i] == 1;
    if (follows)
      runs.back().second *= extents[block];
    else
      runs.push_back({block, extents[block]});
    next = block + 1;
  }
  llvm::SmallVector<unsigned, 8> bySource(runs.size());
  for (unsigned i = 0; i < runs.size(); ++i)
    bySource[i] = i;
  llvm::sort(bySource, [&](unsigned a, unsigned b) {
    return runs[a].first < runs[b].first;
  });
  AxisBlocks result;
  result.order.resize(runs.size());
  for (auto [number, run] : llvm::enumerate(bySource)) {
    result.extents.push_back(runs[run].second);
    result.order[run] = int64_t(number);
  }
  return result;
}

/// transpose(x, [3, 1, 4, 0, 5, 2]) ==> swaps of two runs of adjacent blocks,
/// each of which brings a block to its place, until five are left.
Value *ranks::transposed(AxisMerger &m, Value *value, ArrayRef<int64_t> shape,
                         ArrayRef<int64_t> perm) {
  AxisBlocks blocks = {Shape(shape), Shape(perm)};
  for (;;) {
    blocks = blocks.simplified();
    if (blocks.order.size() < 2)
      return value;
    if (blocks.order.size() <= mostAxes)
      return m.make(ops::Transpose, {m.view(value, blocks.extents)},
                    {{param::perm, blocks.order}});
    size_t place = 0;
    while (blocks.order[place] == int64_t(place))
      ++place;
    size_t from = size_t(blocks.order[place]);
    Shape runs(4, 1);
    for (size_t i = 0; i < blocks.extents.size(); ++i)
      runs[i < place   ? 0
           : i < from  ? 1
           : i == from ? 2
                       : 3] *= blocks.extents[i];
    value = m.make(ops::Transpose, {m.view(value, runs)},
                   Attr(param::perm, {0, 2, 1, 3}));
    // Number the blocks by their new places.
    auto moved = blocks.extents.begin() + int64_t(from);
    std::rotate(blocks.extents.begin() + int64_t(place), moved, moved + 1);
    for (int64_t &block : blocks.order) {
      if (block == int64_t(from))
        block = int64_t(place);
      else if (block >= int64_t(place) && block < int64_t(from))
        ++block;
    }
  }
}

//===----------------------------------------------------------------------===//
// Pixels and channels
//===----------------------------------------------------------------------===//

namespace {
/// How an op of blocks moves elements: reshape, transpose and reshape.
struct BlockOp {
  const OpDef &def;
  const IntParam &factor;
  Shape (*inner)(ArrayRef<int64_t> from, int64_t factor);
  Shape perm;
};
} // namespace

static Shape channelsFirst(ArrayRef<int64_t> x, int64_t r) {
  return {x[0], x[1] / (r * r), r, r, x[2], x[3]};
}
static Shape channelsLast(ArrayRef<int64_t> x, int64_t r) {
  return {x[0], r, r, x[1] / (r * r), x[2], x[3]};
}
static Shape pixels(ArrayRef<int64_t> x, int64_t r) {
  return {x[0], x[1], x[2] / r, r, x[3] / r, r};
}

Results ranks::asBlocks(AxisMerger &m) {
  static const BlockOp rows[] = {
      {ops::PixelShuffle,
       param::upscaleFactor,
       channelsFirst,
       {0, 1, 4, 2, 5, 3}},
      {ops::DepthToSpace, param::blockSize, channelsLast, {0, 3, 4, 1, 5, 2}},
      {ops::SpaceToDepth, param::blockSize, pixels, {0, 3, 5, 1, 2, 4}},
  };
  const Op *transpose = m.op.is(ops::Reshape) ? m.x()->definingOp() : nullptr;
  if (!transpose || !transpose->is(ops::Transpose) ||
      transpose->result()->type.rank() != 6)
    return {};
  const Op *inner = transpose->operand(0u)->definingOp();
  if (!inner || !inner->is(ops::Reshape))
    return {};
  Value *x = inner->operand(0u);
  const TensorType &type = m.op.result()->type;
  if (x->type.rank() != 4 || type.rank() != 4 || !isFloat(type.dtype))
    return {};
  Shape perm = transpose->get(param::perm);
  for (int64_t &axis : perm)
    axis += axis < 0 ? 6 : 0;
  for (const BlockOp &row : rows) {
    int64_t high = std::max(x->type.shape[2], type.shape[2]);
    int64_t low = std::min(x->type.shape[2], type.shape[2]),
            factor = high / low;
    bool grows = type.shape[2] > x->type.shape[2];
    bool isGrowing = &row.def != &ops::SpaceToDepth;
    if (factor < 2 || grows != isGrowing || perm != row.perm ||
        inner->result()->type.shape != row.inner(x->type.shape, factor))
      continue;
    Value *value = m.make(row.def, {x}, Attr(row.factor, factor));
    if (value->type == type)
      return {value};
    value->definingOp()->erase();
  }
  return {};
}
