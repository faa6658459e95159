//===- LastAxis.cpp - slices and concat of the last axis for a target -----===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Some chips cut and join the last axis wrongly or slowly. The same ops of
/// another axis do, after a reshape to blocks of columns or a transposition.
///
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include <algorithm>
#include <numeric>

using namespace anec;
using namespace anec::legalize;

/// Whether a `slice_by_index` has no masks, and constant bounds that count from
/// the start.
static bool isPlainSlice(const Op &op, const Shape &shape) {
  if (!op.constant(param::begin) || !op.constant(param::end))
    return false;
  for (const BoolsParam *mask :
       {&param::beginMask, &param::endMask, &param::squeezeMask})
    if (op.constant(*mask) &&
        llvm::any_of(op.get(*mask), [](int64_t bit) { return bit != 0; }))
      return false;
  for (auto [begin, end, extent] :
       llvm::zip_equal(op.get(param::begin), op.get(param::end), shape))
    if (begin < 0 || end <= begin || end > extent)
      return false;
  return true;
}

/// x[..., 65:96:2] ==> x[..., 65:96][..., 0:31:2]
static Value *sliceInSteps(Rewriter &r) {
  const Shape &shape = r.x()->type.shape;
  if (!isPlainSlice(r.op, shape))
    return nullptr;
  Shape begin = r.op.get(param::begin), end = r.op.get(param::end);
  if (begin.back() == 0)
    return nullptr;
  Value *part = r.slice(r.x(), unsigned(shape.size()) - 1, begin.back(),
                        end.back() - begin.back(), "part");
  end.back() -= begin.back();
  begin.back() = 0;
  return r.make(ops::SliceByIndex, {part},
                {{param::begin, begin},
                 {param::end, end},
                 {param::stride, r.op.constant(param::stride)},
                 {param::beginMask, r.op.constant(param::beginMask)},
                 {param::endMask, r.op.constant(param::endMask)},
                 {param::squeezeMask, r.op.constant(param::squeezeMask)}});
}

/// x[..., 64:96] ==> reshape(reshape(x, [..., n / 32, 32])[..., 2:3, :])
Value *legalize::sliceOfBlocks(Rewriter &r) {
  const Shape &from = r.x()->type.shape, &to = r.op.result()->type.shape;
  if (r.op.is(ops::SliceByIndex))
    return sliceInSteps(r);
  if (!r.op.is(ops::SliceBySize) || !r.op.constant(param::begin))
    return nullptr;
  Shape begin = r.op.get(param::begin), size = to;
  int64_t block = std::gcd(std::gcd(begin.back(), to.back()), from.back());
  std::optional<Shape> blocks = splitAxis(from, from.size() - 1, block);
  if (!blocks)
    return nullptr;
  size_t kept = blocks->size() - 2;
  int64_t first = begin.back() / block;
  begin.truncate(kept);
  begin.append({first, 0});
  size.truncate(kept);
  size.append({to.back() / block, block});
  Value *slice = r.make(ops::SliceBySize, {r.reshape(r.x(), *blocks, "blocks")},
                        {{param::begin, begin}, {param::size, size}}, "block");
  return r.reshape(slice, to);
}

/// x[a:b, c:d:2] ==> transpose(transpose(x[a:b])[c:d:2])
static Value *sliceTransposed(Rewriter &r) {
  Shape whole = r.x()->type.shape;
  if (whole.size() < 2 || !isPlainSlice(r.op, whole))
    return nullptr;
  size_t last = whole.size() - 1;
  const Shape begin = r.op.get(param::begin), end = r.op.get(param::end);
  Shape stride = r.op.constant(param::stride) ? r.op.get(param::stride)
                                              : Shape(whole.size(), 1);
  if (llvm::any_of(stride, [](int64_t step) { return step < 1; }))
    return nullptr;
  auto slice = [&](Value *value, Shape from, Shape to, Shape steps,
                   llvm::StringRef part) {
    return r.make(ops::SliceByIndex, {value},
                  {{param::begin, from},
                   {param::end, to},
                   {param::stride, steps},
                   {param::beginMask, r.op.constant(param::beginMask)},
                   {param::endMask, r.op.constant(param::endMask)}},
                  part);
  };
  Shape from = begin, to = end, steps = stride;
  from[last] = 0, to[last] = whole[last], steps[last] = 1;
  Value *rows = slice(r.x(), from, to, steps, "rows");
  Shape exchange;
  for (size_t axis = 0; axis <= last; ++axis)
    exchange.push_back(int64_t(axis));
  std::swap(exchange[last], exchange[last - 1]);
  Value *turned =
      r.make(ops::Transpose, {rows}, {{param::perm, exchange}}, "turned");
  from = Shape(last + 1, 0), to = turned->type.shape,
  steps = Shape(last + 1, 1);
  from[last - 1] = begin[last], to[last - 1] = end[last];
  steps[last - 1] = stride[last];
  return r.make(ops::Transpose, {slice(turned, from, to, steps, "columns")},
                {{param::perm, exchange}});
}

/// gather(x, indices) along the last axis ==>
/// transpose(gather(transpose(x), indices)) along the one before it
Value *legalize::gatherTransposed(Rewriter &r) {
  const Shape &from = r.x()->type.shape, &to = r.op.result()->type.shape;
  Value *indices = r.op.operand(param::indices);
  if (r.op.get(param::batchDims) != 0)
    return nullptr;
  auto gather = [&](Value *x, int64_t axis, llvm::StringRef part) {
    return r.make(
        ops::Gather, {x, indices},
        {{param::axis, axis},
         {param::batchDims, r.op.constant(param::batchDims)},
         {param::validateIndices, r.op.constant(param::validateIndices)}},
        part);
  };
  if (from.size() == 1) {
    Value *column = r.reshape(r.x(), {from[0], 1}, "column");
    return r.reshape(gather(column, 0, "rows"), to);
  }
  size_t before = from.size() - 2;
  Shape exchange(from.size()), back(to.size());
  std::iota(exchange.begin(), exchange.end(), 0);
  std::swap(exchange[before], exchange[before + 1]);
  Value *turned =
      r.make(ops::Transpose, {r.x()}, {{param::perm, exchange}}, "turned");
  // The axis that changed places with that of the indices follows theirs now.
  std::iota(back.begin(), back.end(), 0);
  std::rotate(back.begin() + before, back.end() - 1, back.end());
  if (to.size() < from.size()) // one index, without an axis
    return gather(turned, int64_t(before), "");
  return r.make(ops::Transpose, {gather(turned, int64_t(before), "rows")},
                {{param::perm, back}});
}

/// concat(x, y) along the last axis ==> the same of blocks of columns
static Value *concatOfBlocks(Rewriter &r) {
  if (r.op.get(param::interleave))
    return nullptr;
  int64_t block = 0;
  for (const Value *value : r.op.operandValues())
    block = std::gcd(block, value->type.shape.back());
  llvm::SmallVector<Value *> blocks;
  for (Value *value : r.op.operandValues()) {
    const Shape &shape = value->type.shape;
    std::optional<Shape> split = splitAxis(shape, shape.size() - 1, block);
    if (!split)
      return nullptr;
    blocks.push_back(r.reshape(value, *split, "blocks"));
  }
  int64_t axis = int64_t(blocks[0]->type.shape.size()) - 2;
  return r.reshape(r.concat(blocks, axis, "block"), r.op.result()->type.shape);
}

/// Slices and `concat` of the last axis ==> the same of another axis
Value *legalize::moveBlocks(Rewriter &r) {
  if (r.op.is(ops::Concat))
    return concatOfBlocks(r);
  return r.op.is(ops::SliceByIndex) ? sliceTransposed(r) : sliceOfBlocks(r);
}
