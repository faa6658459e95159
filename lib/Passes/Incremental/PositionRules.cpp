//===- PositionRules.cpp - the position rule of each op -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PositionAxes.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Slice.h"

using namespace anec;

namespace {
using PositionRule = bool (*)(PositionFlow &);
}

//===----------------------------------------------------------------------===//
// Elements and shapes
//===----------------------------------------------------------------------===//

/// For operands that are aligned at their last axes: the distance of the
/// positions from the end; nothing when two operands differ in it. What has no
/// positions is the same for all of them, or varies along them.
static std::optional<unsigned> align(PositionFlow &f,
                                     llvm::ArrayRef<unsigned> slots) {
  std::optional<unsigned> fromEnd;
  for (unsigned slot : slots) {
    if (!f.in[slot])
      continue;
    unsigned distance = f.rank(slot) - 1 - *f.in[slot];
    if (fromEnd && *fromEnd != distance)
      return std::nullopt;
    fromEnd = distance;
  }
  for (unsigned slot : slots)
    if (fromEnd && f.op.operand(slot) && !f.in[slot] &&
        *fromEnd < f.rank(slot)) {
      unsigned axis = f.rank(slot) - 1 - *fromEnd;
      if (f.shape(slot)[axis] != 1)
        f.varying.push_back({slot, axis});
    }
  return fromEnd;
}

static llvm::SmallVector<unsigned, 4> allSlots(const PositionFlow &f) {
  llvm::SmallVector<unsigned, 4> slots;
  for (unsigned slot = 0; slot < f.op.numOperands(); ++slot)
    if (f.op.operand(slot))
      slots.push_back(slot);
  return slots;
}

static constexpr llvm::StringLiteral relates =
    "relates positions with other positions";

static bool elementwise(PositionFlow &f) {
  std::optional<unsigned> fromEnd = align(f, allSlots(f));
  if (!fromEnd)
    return f.fail(relates);
  return f.keep(f.op.result()->type.rank() - 1 - *fromEnd);
}

/// Elements stay in order: the axis of the result that has the same number of
/// elements before it.
static bool reshape(PositionFlow &f) {
  const Shape &from = f.shape(0), &to = f.op.result()->type.shape;
  unsigned axis = *f.in[0];
  int64_t before = 1, reached = 1;
  for (unsigned i = 0; i < axis; ++i)
    before *= from[i];
  for (unsigned i = 0; i < to.size(); ++i) {
    if (reached == before && to[i] == from[axis])
      return f.keep(i);
    reached *= to[i];
  }
  return f.fail("joins the positions with other axes");
}

static bool reshapeByShape(PositionFlow &f) {
  if (!reshape(f))
    return false;
  Shape shape = f.op.result()->type.shape;
  shape[*f.out] = f.count;
  f.changed.emplace_back(param::shape, shape);
  return true;
}

/// The axes are listed, because one position alone is an axis of extent 1 too.
static bool squeeze(PositionFlow &f) {
  if (!reshape(f))
    return false;
  Shape axes;
  if (f.op.constant(param::axes))
    return true;
  for (unsigned axis = 0; axis < f.rank(0); ++axis)
    if (f.shape(0)[axis] == 1)
      axes.push_back(axis);
  f.changed.emplace_back(param::axes, axes);
  return true;
}

static bool transpose(PositionFlow &f) {
  Shape perm = f.op.get(param::perm);
  for (unsigned i = 0; i < perm.size(); ++i)
    if (PositionFlow::normalized(perm[i], perm.size()) == *f.in[0])
      return f.keep(i);
  return f.fail("loses the positions");
}

static bool same(PositionFlow &f) { return f.keep(f.in[0]); }

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral along = "works along the positions";

static bool alongAxis(PositionFlow &f) {
  if (PositionFlow::normalized(f.op.get(param::axis), f.rank(0)) == *f.in[0])
    return f.fail(along);
  return same(f);
}

static bool listsPositions(const PositionFlow &f) {
  return llvm::any_of(f.op.get(param::axes), [&](int64_t axis) {
    return PositionFlow::normalized(axis, f.rank(0)) == *f.in[0];
  });
}

static bool alongAxes(PositionFlow &f) {
  return listsPositions(f) ? f.fail(along) : same(f);
}

/// The axis of the result of a reduction of `axes`.
static bool reduced(PositionFlow &f, llvm::ArrayRef<int64_t> axes) {
  unsigned before = 0;
  for (int64_t axis : axes) {
    unsigned at = PositionFlow::normalized(axis, f.rank(0));
    if (at == *f.in[0])
      return f.fail("combines the positions");
    before += at < *f.in[0];
  }
  return f.keep(*f.in[0] - (f.op.get(param::keepDims) ? 0 : before));
}

static bool reduction(PositionFlow &f) {
  return f.op.constant(param::axes) ? reduced(f, f.op.get(param::axes))
                                    : reduced(f, f.op.get(param::axis));
}

/// Of the last axes.
template <unsigned count>
static bool alongLast(PositionFlow &f) {
  return *f.in[0] + count >= f.rank(0) ? f.fail(along) : same(f);
}

/// A number for each channel, axis 1.
static bool perChannel(PositionFlow &f) {
  return *f.in[0] == 1 ? f.fail(along) : same(f);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral sums = "sums over the positions";

static bool matmul(PositionFlow &f) {
  if (f.rank(0) < 2 || f.rank(1) < 2)
    return f.fail(relates);
  unsigned rank = f.op.result()->type.rank();
  std::optional<unsigned> fromEnd; // in the result
  for (unsigned slot : {0u, 1u}) {
    if (!f.in[slot])
      continue;
    unsigned distance = f.rank(slot) - 1 - *f.in[slot];
    if (distance < 2) {
      bool turned =
          slot == 0 ? f.op.get(param::transposeX) : f.op.get(param::transposeY);
      // Rows of `x` and columns of `y` are those of the result.
      bool isLast = (distance == 0) != turned;
      if (isLast == (slot == 0))
        return f.fail(sums);
      distance = slot == 0 ? 1 : 0;
    }
    if (fromEnd && *fromEnd != distance)
      return f.fail(relates);
    fromEnd = distance;
  }
  for (unsigned slot : {0u, 1u})
    if (!f.in[slot] && *fromEnd >= 2 && *fromEnd < f.rank(slot)) {
      unsigned axis = f.rank(slot) - 1 - *fromEnd;
      if (f.shape(slot)[axis] != 1)
        f.varying.push_back({slot, axis});
    }
  return f.keep(rank - 1 - *fromEnd);
}

static bool linear(PositionFlow &f) {
  return *f.in[0] + 1 == f.rank(0) ? f.fail(sums) : same(f);
}

static bool einsum(PositionFlow &f) {
  std::string equation = llvm::StringRef(f.op.get(param::equation)).str();
  llvm::erase_if(equation, [](char c) { return c == ' '; });
  auto [inputs, output] = llvm::StringRef(equation).split("->");
  llvm::SmallVector<llvm::StringRef, 2> terms;
  inputs.split(terms, ',');
  std::optional<char> label;
  for (unsigned slot = 0; slot < terms.size(); ++slot) {
    if (!f.in[slot])
      continue;
    char own = terms[slot][*f.in[slot]];
    if (label && *label != own)
      return f.fail(relates);
    label = own;
  }
  size_t at = output.find(*label);
  if (at == llvm::StringRef::npos)
    return f.fail(sums);
  for (unsigned slot = 0; slot < terms.size(); ++slot)
    if (size_t axis = terms[slot].find(*label);
        !f.in[slot] && axis != llvm::StringRef::npos)
      f.varying.push_back({slot, unsigned(axis)});
  return f.keep(unsigned(at));
}

/// A convolution of single positions is a product.
static bool conv(PositionFlow &f) {
  unsigned axis = *f.in[0];
  if (axis == 0)
    return same(f);
  if (axis == 1)
    return f.fail(sums);
  unsigned spatial = axis - 2;
  bool isPadded = f.op.get(param::padType) == "custom" &&
                  (f.op.get(param::pad)[2 * spatial] != 0 ||
                   f.op.get(param::pad)[2 * spatial + 1] != 0);
  if (f.shape(1)[axis] != 1 || f.op.get(param::strides)[spatial] != 1 ||
      isPadded)
    return f.fail("combines neighboring positions");
  return same(f);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral part =
    "takes positions out of their sequence";

static bool concat(PositionFlow &f) {
  std::optional<unsigned> fromEnd = align(f, allSlots(f));
  if (!fromEnd)
    return f.fail(relates);
  unsigned rank = f.rank(0), axis = rank - 1 - *fromEnd;
  if (PositionFlow::normalized(f.op.get(param::axis), rank) == axis)
    return f.fail("joins positions with others");
  return f.keep(axis);
}

static bool stack(PositionFlow &f) {
  std::optional<unsigned> fromEnd = align(f, allSlots(f));
  if (!fromEnd)
    return f.fail(relates);
  unsigned rank = f.rank(0), axis = rank - 1 - *fromEnd;
  return f.keep(axis + (PositionFlow::normalized(f.op.get(param::axis),
                                                 rank + 1) <= axis));
}

static bool tile(PositionFlow &f) {
  return f.op.get(param::reps)[*f.in[0]] != 1 ? f.fail("repeats the positions")
                                              : same(f);
}

static bool pad(PositionFlow &f) {
  Shape amounts = f.op.get(param::pad);
  unsigned first = f.rank(0) - unsigned(amounts.size() / 2);
  for (unsigned side : {0u, 1u})
    if (*f.in[0] >= first && amounts[2 * (*f.in[0] - first) + side] != 0)
      return f.fail("adds positions");
  return same(f);
}

static bool sliceBySize(PositionFlow &f) {
  unsigned axis = *f.in[0];
  if (!f.op.constant(param::begin))
    return f.fail(part);
  Shape begin = f.op.get(param::begin), size = f.op.get(param::size);
  if (begin[axis] != 0 || (size[axis] != -1 && size[axis] != f.shape(0)[axis]))
    return f.fail(part);
  size[axis] = f.count;
  f.changed.emplace_back(param::size, size);
  return same(f);
}

static bool sliceByIndex(PositionFlow &f) {
  unsigned axis = *f.in[0];
  auto flag = [&](const BoolsParam &name, unsigned at) {
    return f.op.constant(name) && f.op.get(name)[at];
  };
  Shape begin = f.op.get(param::begin), end = f.op.get(param::end);
  bool fromFirst = flag(param::beginMask, axis) || begin[axis] == 0;
  bool toLast = flag(param::endMask, axis) || end[axis] == f.shape(0)[axis];
  bool steps =
      f.op.constant(param::stride) && f.op.get(param::stride)[axis] != 1;
  if (!fromFirst || !toLast || steps || flag(param::squeezeMask, axis))
    return f.fail(part);
  end[axis] = f.count;
  f.changed.emplace_back(param::end, end);
  unsigned dropped = 0;
  for (unsigned i = 0; i < axis; ++i)
    dropped += flag(param::squeezeMask, i);
  return f.keep(axis - dropped);
}

static bool gather(PositionFlow &f) {
  unsigned axis = PositionFlow::normalized(f.op.get(param::axis), f.rank(0));
  if ((f.in[0] && f.in[1]) || f.op.get(param::batchDims) != 0)
    return f.fail(relates);
  if (f.in[1])
    return f.keep(axis + *f.in[1]);
  if (*f.in[0] == axis)
    return f.fail(part);
  return f.keep(*f.in[0] < axis ? *f.in[0] : *f.in[0] + f.rank(1) - 1);
}

/// A column for each index.
static bool embed(PositionFlow &f) {
  return f.in[0] ? f.fail(relates) : f.keep(1);
}

static bool gatherAlongAxis(PositionFlow &f) {
  std::optional<unsigned> fromEnd = align(f, allSlots(f));
  if (!fromEnd)
    return f.fail(relates);
  unsigned rank = f.rank(0), axis = rank - 1 - *fromEnd;
  if (PositionFlow::normalized(f.op.get(param::axis), rank) == axis)
    return f.fail(part);
  return f.keep(axis);
}

static bool oneHot(PositionFlow &f) {
  unsigned rank = f.rank(0) + 1, axis = *f.in[0];
  bool isAfter = PositionFlow::normalized(f.op.get(param::axis), rank) <= axis;
  return f.keep(axis + isAfter);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct PositionRow {
  const OpDef *op;
  PositionRule rule;
  /// Whether operands other than the first may have positions.
  bool isOfSeveral = false;
};
} // namespace

/// Besides elementwise ops and reductions.
static constexpr PositionRow rows[] = {
    {&ops::Argsort, alongAxis},
    {&ops::BandPart, alongLast<2>},
    {&ops::BatchNorm, perChannel},
    {&ops::Concat, concat, true},
    {&ops::Conv, conv},
    {&ops::Cumsum, alongAxis},
    {&ops::Einsum, einsum, true},
    {&ops::Embed, embed, true},
    {&ops::ExpandDims, reshape},
    {&ops::FillLike, same},
    {&ops::Flatten2d, reshape},
    {&ops::Gather, gather, true},
    {&ops::GatherAlongAxis, gatherAlongAxis, true},
    {&ops::InverseRms, alongAxis},
    {&ops::L2Norm, alongLast<3>},
    {&ops::LayerNorm, alongAxes},
    {&ops::Linear, linear},
    {&ops::Matmul, matmul, true},
    {&ops::MergeHeads, reshape},
    {&ops::OneHot, oneHot},
    {&ops::Pad, pad},
    {&ops::Prelu, perChannel},
    {&ops::Reshape, reshapeByShape},
    {&ops::Reverse, alongAxes},
    {&ops::RmsNorm, alongAxis},
    {&ops::SliceByIndex, sliceByIndex},
    {&ops::SliceBySize, sliceBySize},
    {&ops::Softmax, alongAxis},
    {&ops::Split, alongAxis},
    {&ops::SplitHeads, reshape},
    {&ops::Squeeze, squeeze},
    {&ops::Stack, stack, true},
    {&ops::Tile, tile},
    {&ops::Topk, alongAxis},
    {&ops::Transpose, transpose},
};

static std::optional<PositionRow> rowOf(const OpDef &def) {
  for (const PositionRow &row : rows)
    if (row.op == &def)
      return row;
  if (def.has(trait::Elementwise))
    return PositionRow{&def, elementwise, true};
  if (def.has(trait::Reduction))
    return PositionRow{&def, reduction};
  return std::nullopt;
}

bool anec::findPositionAxis(PositionFlow &flow) {
  std::optional<PositionRow> row = rowOf(flow.op.def());
  if (!row)
    return flow.fail("may combine positions");
  if (!row->isOfSeveral)
    for (unsigned slot = 0; slot < flow.op.numOperands(); ++slot)
      if (flow.in[slot].has_value() != (slot == 0))
        return flow.fail(relates);
  return row->rule(flow);
}
