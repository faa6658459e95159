//===- Slice.cpp - reading and writing parts --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Slice.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Slices.h"

namespace anec::param {
ANEC_PARAM(endValue, "end", Value)
} // namespace anec::param

using namespace anec;

//===----------------------------------------------------------------------===//
// slice_by_size
//===----------------------------------------------------------------------===//

/// For a computed `begin`, which is clamped so that the slice lies within `x`.
static bool inferComputedSliceBySize(InferContext &ctx) {
  TensorType type = ctx.type(0);
  if (!checkShape(ctx, 1, {int64_t(type.rank())}) || // C1
      !checkLength(ctx, param::size, type.rank()) || // C2
      !checkRange(ctx, param::size, 1))              // C5
    return false;
  Shape size = ctx.get(param::size);
  for (unsigned axis = 0; axis < type.rank(); ++axis)
    if (size[axis] > type.shape[axis]) // C3
      return ctx.fail(diag::SliceOutOfRange(ctx.opName(),
                                            ctx.describeOperand(0), axis,
                                            size[axis], 0, type.shape[axis]),
                      {0});
  return ctx.result({type.dtype, size});
}

static bool inferSliceBySize(InferContext &ctx) {
  if (!checkGivenOnce(ctx, param::begin, param::beginValue)) // C4
    return false;
  if (!ctx.constant(param::begin))
    return inferComputedSliceBySize(ctx);
  TensorType type = ctx.type(0);
  if (!checkLength(ctx, param::begin, type.rank()) || // C1
      !checkLength(ctx, param::size, type.rank()))    // C2
    return false;
  Shape begin = ctx.get(param::begin), size = ctx.get(param::size);
  for (unsigned axis = 0; axis < type.rank(); ++axis) {
    int64_t extent = type.shape[axis];
    int64_t first = normalized(begin[axis], extent);
    int64_t count = size[axis] == -1 ? extent - first : size[axis];
    if (first < 0 || count < 1 || first + count > extent) // C3
      return ctx.fail(diag::SliceOutOfRange(ctx.opName(),
                                            ctx.describeOperand(0), axis, count,
                                            begin[axis], extent),
                      {0});
    type.shape[axis] = count;
  }
  return ctx.result(type);
}

/// The elements of an integer list: the constant `name` or the value in `slot`.
static Shape integersOf(const EvalContext &ctx, const IntsParam &name,
                        unsigned slot) {
  if (ctx.constant(name))
    return ctx.get(name);
  return Shape(ctx.in[slot]->data.begin(), ctx.in[slot]->data.end());
}

/// `begin`, clamped so that `count` elements fit in the axis.
static int64_t fitted(int64_t begin, int64_t count, int64_t extent) {
  return std::clamp<int64_t>(normalized(begin, extent), 0, extent - count);
}

static void evalSliceBySize(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  Shape begin = integersOf(ctx, param::begin, 1);
  Shape strides = rowMajorStrides(x.type.shape);
  const double *from = x.data.data();
  for (unsigned axis = 0; axis < x.type.rank(); ++axis)
    from += fitted(begin[axis], out.type.shape[axis], x.type.shape[axis]) *
            strides[axis];
  copyElements(out.type.shape, from, strides, out.data.data(),
               rowMajorStrides(out.type.shape));
}

/// Pads dy with zeros.
static void gradientSliceBySize(Gradient &g) {
  const Shape &size = g.op.result()->type.shape;
  if (Value *computed = g.op.operand(param::beginValue)) {
    // The end is not used: the update's shape determines the slice.
    g.give(0, [&] {
      return g.make(ops::SliceUpdate, {g.fill(g.shape(0), 0), g.dy(), computed},
                    Attr(param::end, llvm::ArrayRef<int64_t>(size)));
    });
    return;
  }
  Shape begin = g.op.get(param::begin), end = g.shape(0);
  for (auto [axis, extent] : llvm::enumerate(size)) {
    begin[axis] = normalized(begin[axis], end[axis]);
    end[axis] -= begin[axis] + extent;
  }
  g.give(0, [&] { return g.pad(g.dy(), begin, end); });
}

static bool positionsSliceBySize(PositionFlow &f) {
  unsigned axis = *f.in[0];
  if (!f.op.constant(param::begin))
    return f.fail(positions::takesPart);
  Shape begin = f.op.get(param::begin), size = f.op.get(param::size);
  if (begin[axis] != 0 || (size[axis] != -1 && size[axis] != f.shape(0)[axis]))
    return f.fail(positions::takesPart);
  size[axis] = f.count;
  f.changed.emplace_back(param::size, size);
  return positions::same(f);
}

constinit const OpDef ops::SliceBySize = {
    .name = "slice_by_size",
    .summary =
        "`size`[i] elements along axis i, starting at `begin`[i]. A size of -1 "
        "selects the rest, and a negative begin counts from the end.",
    .family = "slice",
    .params = {value(param::x, movableTypes),
               optionalConstant(param::begin, shapeTypes), extents(param::size),
               computed(param::beginValue)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`begin` has an element for each axis of `x`",
                    "`size` has an element for each axis of `x`",
                    "slices are not empty and are within `x`; a computed "
                    "`begin` is clamped so that they are",
                    "`begin` is either a constant or a value",
                    "with a computed `begin`, sizes are at least 1"},
    .infer = inferSliceBySize,
    .eval = evalSliceBySize,
    .gradient = gradientSliceBySize,
    .positions = {positionsSliceBySize},
};

//===----------------------------------------------------------------------===//
// slice_by_index
//===----------------------------------------------------------------------===//

namespace {
/// The constants that define the selection of slice_by_index and slice_update.
static constexpr ConstantParam selectionParams[] = {
    param::begin,     param::end,     param::stride,
    param::beginMask, param::endMask, param::squeezeMask};

/// The parameters of slice_by_index; masks and stride can be absent.
struct SliceParameters : SliceBounds {
  template <typename Context>
  explicit SliceParameters(const Context &ctx) {
    auto list = [&](const ConstantParam &name, int64_t fallback) {
      return ctx.constant(name) ? ctx.constant(name)->asInts()
                                : Shape(begin.size(), fallback);
    };
    begin = ctx.get(param::begin);
    end = ctx.get(param::end);
    stride = list(param::stride, 1);
    beginMask = list(param::beginMask, 0);
    endMask = list(param::endMask, 0);
    squeezeMask = list(param::squeezeMask, 0);
  }
};
} // namespace

SliceRange SliceBounds::range(unsigned axis, int64_t extent) const {
  int64_t first = normalized(begin[axis], extent);
  if (squeezeMask[axis])
    return {first, 1, 1, true};
  int64_t step = stride[axis], low = step < 0 ? -1 : 0;
  int64_t high = extent + low;
  first =
      beginMask[axis] ? (step < 0 ? high : low) : std::clamp(first, low, high);
  int64_t last = endMask[axis]
                     ? (step < 0 ? low : high)
                     : std::clamp(normalized(end[axis], extent), low, high);
  int64_t span = step < 0 ? first - last : last - first;
  int64_t count = span <= 0 ? 0 : (span - 1) / std::abs(step) + 1;
  return {first, step, count, false};
}

/// Checks the parameters. Returns the shape of the selection, or nothing after
/// an error.
static std::optional<Shape> inferSelection(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  for (const ConstantParam &name : selectionParams)
    if (!checkLength(ctx, name, x.rank())) // C1
      return std::nullopt;
  SliceParameters parameters(ctx);
  if (llvm::is_contained(parameters.stride, 0)) { // C2
    ctx.fail(diag::ParameterRange(ctx.opName(), "stride", "0",
                                  "steps other than 0"));
    return std::nullopt;
  }
  Shape shape;
  for (unsigned axis = 0; axis < x.rank(); ++axis) {
    int64_t extent = x.shape[axis];
    SliceRange range = parameters.range(axis, extent);
    if (range.dropped && (range.first < 0 || range.first >= extent)) { // C3
      ctx.fail(diag::IndexOutOfRange(ctx.opName(), ctx.describeOperand(0), axis,
                                     parameters.begin[axis]),
               {0});
      return std::nullopt;
    }
    if (range.count == 0) { // C4
      ctx.fail(diag::SliceEmpty(ctx.opName(), ctx.describeOperand(0), axis),
               {0});
      return std::nullopt;
    }
    if (!range.dropped)
      shape.push_back(range.count);
  }
  return shape;
}

static bool inferSliceByIndex(InferContext &ctx) {
  auto shape = inferSelection(ctx);
  return shape && ctx.result({ctx.type(0).dtype, *shape});
}

template <typename Context>
static Selection makeSelection(const Context &ctx,
                               llvm::ArrayRef<int64_t> shape) {
  SliceParameters parameters(ctx);
  Shape all = rowMajorStrides(shape);
  Selection selection;
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    SliceRange range = parameters.range(axis, shape[axis]);
    selection.first += range.first * all[axis];
    if (!range.dropped)
      selection.strides.push_back(range.step * all[axis]);
  }
  return selection;
}

Selection anec::selectElements(const Op &op, llvm::ArrayRef<int64_t> shape) {
  return makeSelection(op, shape);
}

static void evalSliceByIndex(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  Selection kept = makeSelection(ctx, x.type.shape);
  copyElements(out.type.shape, &x.data[kept.first], kept.strides,
               out.data.data(), rowMajorStrides(out.type.shape));
}

/// The constants that slice_by_index and slice_update share.
static llvm::SmallVector<Attr, 6> selection(const Op &op) {
  llvm::SmallVector<Attr, 6> attrs;
  for (const ConstantParam &name : selectionParams)
    if (const Constant *list = op.constant(name))
      attrs.emplace_back(name, list);
  return attrs;
}

// Adjacent elements are padded, which chips accept, and others are written into
// zeros.
static void gradientSliceByIndex(Gradient &g) {
  SliceParameters parameters(g.op);
  Shape before, kept, after;
  bool isAdjacent = true;
  for (auto [axis, extent] : llvm::enumerate(g.shape(0))) {
    SliceRange range = parameters.range(unsigned(axis), extent);
    isAdjacent &= range.step == 1 || range.count == 1;
    before.push_back(range.first);
    kept.push_back(range.count);
    after.push_back(extent - range.first - range.count);
  }
  g.give(0, [&] {
    if (isAdjacent)
      return g.pad(g.reshape(g.dy(), kept), before, after);
    return g.make(ops::SliceUpdate, {g.fill(g.shape(0), 0), g.dy()},
                  selection(g.op));
  });
}

static bool positionsSliceByIndex(PositionFlow &f) {
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
    return f.fail(positions::takesPart);
  end[axis] = f.count;
  f.changed.emplace_back(param::end, end);
  unsigned dropped = 0;
  for (unsigned i = 0; i < axis; ++i)
    dropped += flag(param::squeezeMask, i);
  return f.keep(axis - dropped);
}

constinit const OpDef ops::SliceByIndex = {
    .name = "slice_by_index",
    .summary = "The elements from `begin`, inclusive, to `end`, exclusive, in "
               "steps of `stride` along each axis, by NumPy's rules. "
               "`begin_mask` and `end_mask` remove a bound. `squeeze_mask` "
               "selects the single index `begin` and removes the axis.",
    .family = "slice",
    .params = {value(param::x, movableTypes), extents(param::begin),
               extents(param::end), optionalConstant(param::stride, shapeTypes),
               optionalConstant(param::beginMask, {DType::Bool}),
               optionalConstant(param::endMask, {DType::Bool}),
               optionalConstant(param::squeezeMask, {DType::Bool})},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"each list has an element for each axis of `x`",
                    "strides are not 0", "indices of removed axes are in range",
                    "slices are not empty"},
    .infer = inferSliceByIndex,
    .eval = evalSliceByIndex,
    .gradient = gradientSliceByIndex,
    .positions = {positionsSliceByIndex},
};

//===----------------------------------------------------------------------===//
// slice_update
//===----------------------------------------------------------------------===//

/// The axes of `x` that the axes of `update` correspond to: all except dropped
/// ones.
template <typename Context>
static llvm::SmallVector<unsigned, 4> updatedAxes(const Context &ctx,
                                                  unsigned rank) {
  Shape dropped = ctx.constant(param::squeezeMask) ? ctx.get(param::squeezeMask)
                                                   : Shape(rank, 0);
  llvm::SmallVector<unsigned, 4> axes;
  for (unsigned axis = 0; axis < rank; ++axis)
    if (!dropped[axis])
      axes.push_back(axis);
  return axes;
}

/// For a computed `begin` or `end`: the shape of `update` determines the extent
/// of the slice.
static bool inferComputedUpdate(InferContext &ctx) {
  const TensorType &x = ctx.type(0), &update = ctx.type(1);
  int64_t rank = x.rank();
  for (const ConstantParam &name : selectionParams)
    if (!checkLength(ctx, name, rank)) // C1
      return false;
  if (!checkShape(ctx, 2, {rank}) || !checkShape(ctx, 3, {rank}) || // C1
      !checkRange(ctx, param::stride, 1, 1))                        // C7
    return false;
  auto axes = updatedAxes(ctx, rank);
  Shape room;
  for (unsigned axis : axes)
    room.push_back(x.shape[axis]);
  bool fits = update.rank() == room.size();
  for (size_t i = 0; fits && i < room.size(); ++i)
    fits = update.shape[i] <= room[i];
  if (!fits) // C5
    return ctx.fail(diag::OperandShape(ctx.opName(), "update",
                                       ctx.describeOperand(1),
                                       shapeToString(room)),
                    {1});
  return inferSame(ctx);
}

static bool inferSliceUpdate(InferContext &ctx) {
  if (!checkGivenOnce(ctx, param::begin, param::beginValue) ||
      !checkGivenOnce(ctx, param::end, param::endValue)) // C6
    return false;
  if (!ctx.constant(param::begin) || !ctx.constant(param::end))
    return inferComputedUpdate(ctx);
  auto shape = inferSelection(ctx);                             // C1 to C4
  return shape && checkShape(ctx, 1, *shape) && inferSame(ctx); // C5
}

/// The selection at computed positions: as many elements as the update has,
/// with `begin` clamped so that they fit.
static Selection selectComputed(const EvalContext &ctx,
                                llvm::ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  Shape begin = integersOf(ctx, param::begin, 2), all = rowMajorStrides(shape);
  Shape counts(rank, 1);
  Selection selection;
  for (auto [index, axis] : llvm::enumerate(updatedAxes(ctx, rank))) {
    counts[axis] = ctx.in[1]->type.shape[index];
    selection.strides.push_back(all[axis]);
  }
  for (unsigned axis = 0; axis < rank; ++axis) {
    bool fromStart = ctx.constant(param::beginMask) &&
                     ctx.constant(param::beginMask)->doubleAt(axis) != 0;
    selection.first +=
        fitted(fromStart ? 0 : begin[axis], counts[axis], shape[axis]) *
        all[axis];
  }
  return selection;
}

static void evalSliceUpdate(EvalContext &ctx) {
  RefTensor &out = ctx.out[0];
  const RefTensor &update = *ctx.in[1];
  out.data = ctx.in[0]->data;
  bool isConstant = ctx.constant(param::begin) && ctx.constant(param::end);
  Selection selection = isConstant ? makeSelection(ctx, out.type.shape)
                                   : selectComputed(ctx, out.type.shape);
  copyElements(update.type.shape, update.data.data(),
               rowMajorStrides(update.type.shape), &out.data[selection.first],
               selection.strides);
}

/// The elements of dy that selectComputed selects, in the shape of the update.
static Value *readComputed(Gradient &g) {
  const Shape &shape = g.shape(0);
  unsigned rank = shape.size();
  Shape counts(rank, 1), fromStart(rank, 0);
  for (auto [index, axis] : llvm::enumerate(updatedAxes(g.op, rank)))
    counts[axis] = g.shape(1)[index];
  if (g.op.constant(param::beginMask))
    fromStart = g.op.get(param::beginMask);
  Attr size(param::size, llvm::ArrayRef<int64_t>(counts));
  Value *begin = g.op.operand(param::beginValue);
  if (!begin) {
    Shape first = g.op.get(param::begin);
    for (unsigned axis = 0; axis < rank; ++axis)
      first[axis] =
          fitted(fromStart[axis] ? 0 : first[axis], counts[axis], shape[axis]);
    return g.reshape(g.slice(g.dy(), first, counts), g.shape(1));
  }
  for (int64_t &factor : fromStart)
    factor = !factor;
  begin = g.mul(begin, g.indices(rank, fromStart));
  return g.reshape(g.make(ops::SliceBySize, {g.dy(), begin}, size), g.shape(1));
}

static void gradientSliceUpdate(Gradient &g) {
  Value *begin = g.op.operand(param::beginValue),
        *end = g.op.operand(param::endValue);
  g.give(0, [&] {
    Value *zeros = g.fill(g.shape(1), 0);
    return g.make(ops::SliceUpdate, {g.dy(), zeros, begin, end},
                  selection(g.op));
  });
  g.give(1, [&] {
    return begin || end ? readComputed(g)
                        : g.make(ops::SliceByIndex, {g.dy()}, selection(g.op));
  });
}

constinit const OpDef ops::SliceUpdate = {
    .name = "slice_update",
    .summary = "Copies `x`, with `update` in place of the slice that "
               "`slice_by_index` would select.",
    .family = "slice",
    .params = {value(param::x, movableTypes),
               value(param::update, movableTypes),
               optionalConstant(param::begin, shapeTypes),
               optionalConstant(param::end, shapeTypes),
               optionalConstant(param::stride, shapeTypes),
               optionalConstant(param::beginMask, {DType::Bool}),
               optionalConstant(param::endMask, {DType::Bool}),
               optionalConstant(param::squeezeMask, {DType::Bool}),
               computed(param::beginValue), computed(param::endValue)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"each list has an element for each axis of `x`",
                    "strides are not 0", "indices of removed axes are in range",
                    "slices are not empty",
                    "`update` has the shape of the slice; with computed "
                    "positions, the slice starts at `begin`, clamped so that "
                    "it is within `x`, and has the shape of `update`",
                    "`begin` and `end` are constants or values",
                    "with computed positions, strides are 1"},
    .infer = inferSliceUpdate,
    .eval = evalSliceUpdate,
    .gradient = gradientSliceUpdate,
    .positions = {positions::moved},
};
