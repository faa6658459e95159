//===- Shape.cpp - changes of shape -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that keep every element: reshape and its special cases, transpose, and
/// tile and pad, which repeat elements. Joining and splitting are in
/// Concat.cpp.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Shape.h"
#include "Elementwise.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Scatter.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// reshape, expand_dims, squeeze
//===----------------------------------------------------------------------===//

/// The gradient of all ops that keep the elements in order.
static void gradientReshape(Gradient &g) {
  g.give(0, [&] { return g.reshape(g.dy(), g.shape(0)); });
}

static bool inferReshape(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  if (!checkRange(ctx, param::shape, -1)) // C1
    return false;
  Shape shape = ctx.get(param::shape);
  std::string wanted = shapeToString(shape);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != 0)
      continue;
    if (shape.size() != x.rank()) // C2
      return ctx.fail(
          diag::ReshapeCopy(ctx.opName(), ctx.describeOperand(0), wanted), {0});
    shape[axis] = x.shape[axis];
  }
  int64_t count = x.numElements();
  if (auto *inferred = llvm::find(shape, -1); inferred != shape.end()) {
    *inferred = 1;
    auto rest = checkedNumElements(shape); // C3: nothing for a second -1
    if (!rest || count % *rest)
      return ctx.fail(
          diag::ReshapeInfer(ctx.opName(), ctx.describeOperand(0), wanted),
          {0});
    *inferred = count / *rest;
  }
  auto reshaped = checkedNumElements(shape);
  if (reshaped != count) // C4
    return ctx.fail(
        diag::ReshapeCount(ctx.opName(), ctx.describeOperand(0), wanted, count,
                           reshaped ? std::to_string(*reshaped) : "too many"),
        {0});
  return ctx.result({x.dtype, shape});
}

static bool positionsReshape(PositionFlow &f) {
  if (!positions::reshape(f))
    return false;
  Shape shape = f.op.result()->type.shape;
  shape[*f.out] = f.count;
  f.changed.emplace_back(param::shape, shape);
  return true;
}

constinit const OpDef ops::Reshape = {
    .name = "reshape",
    .summary = "Returns the elements of `x` in the same order, with `shape`. "
               "An extent of 0 copies that of `x`; -1 is inferred from the "
               "element count.",
    .family = "shape",
    .params = {value(param::x, movableTypes), extents(param::shape)},
    .traits = trait::Mil | trait::DataMovement | trait::Renames,
    .constraints = {"extents are at least -1",
                    "an extent of 0 requires equal ranks",
                    "at most one extent is -1, and the other extents divide "
                    "the element count",
                    "the element count does not change"},
    .infer = inferReshape,
    .eval = evalCopy,
    .gradient = gradientReshape,
    .positions = {positionsReshape},
};

static bool inferExpandDims(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  Shape axes = ctx.get(param::axes);
  unsigned rank = x.rank() + axes.size();
  if (!normalizeAxes(ctx, axes, rank)) // C1
    return false;
  Shape shape;
  const int64_t *next = x.shape.begin();
  for (unsigned axis = 0; axis < rank; ++axis)
    shape.push_back(llvm::is_contained(axes, axis) ? 1 : *next++);
  return ctx.result({x.dtype, shape});
}

constinit const OpDef ops::ExpandDims = {
    .name = "expand_dims",
    .summary = "Inserts axes of extent 1 at positions `axes` of the result.",
    .family = "shape",
    .params = {value(param::x, movableTypes), integers(param::axes)},
    .traits = trait::Mil | trait::DataMovement | trait::Renames,
    .constraints = {"`axes` are distinct axes of the result"},
    .infer = inferExpandDims,
    .eval = evalCopy,
    .gradient = gradientReshape,
};

static bool inferSqueeze(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  Shape axes;
  if (ctx.constant(param::axes))
    axes = ctx.get(param::axes);
  else
    for (unsigned axis = 0; axis < x.rank(); ++axis)
      if (x.shape[axis] == 1)
        axes.push_back(axis);
  if (!normalizeAxes(ctx, axes, x.rank())) // C1
    return false;
  for (int64_t axis : axes)
    if (x.shape[axis] != 1) // C2
      return ctx.fail(diag::SqueezeExtent(ctx.opName(), ctx.describeOperand(0),
                                          axis, x.shape[axis]),
                      {0});
  Shape shape;
  for (unsigned axis = 0; axis < x.rank(); ++axis)
    if (!llvm::is_contained(axes, axis))
      shape.push_back(x.shape[axis]);
  return ctx.result({x.dtype, shape});
}

/// The axes are listed, because one position alone is an axis of extent 1 too.
static bool positionsSqueeze(PositionFlow &f) {
  if (!positions::reshape(f))
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

constinit const OpDef ops::Squeeze = {
    .name = "squeeze",
    .summary =
        "Removes `axes`, or every axis of extent 1 when `axes` is absent.",
    .family = "shape",
    .params = {value(param::x, movableTypes),
               optionalConstant(param::axes, {DType::Int32})},
    .traits = trait::Mil | trait::DataMovement | trait::Renames,
    .constraints = {"`axes` are distinct axes of `x`", "their extents are 1"},
    .infer = inferSqueeze,
    .eval = evalCopy,
    .gradient = gradientReshape,
    .positions = {positionsSqueeze},
};

static bool inferFlatten2d(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  // The axis can be one past the last, like the end of a slice.
  if (axis != int64_t(x.rank()) && !ctx.normalizeAxis(axis, x.rank())) // C1
    return false;
  llvm::ArrayRef<int64_t> shape = x.shape;
  return ctx.result({x.dtype,
                     {saturatingProduct(shape.take_front(axis)),
                      saturatingProduct(shape.drop_front(axis))}});
}

constinit const OpDef ops::Flatten2d = {
    .name = "flatten2d",
    .summary = "Reshapes `x` to a matrix: axes before `axis` become rows, the "
               "others columns.",
    .family = "shape",
    .params = {value(param::x, basicTypes), integer(param::axis, "1")},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`axis` is an axis of `x`, or its rank"},
    .infer = inferFlatten2d,
    .eval = evalCopy,
    .gradient = gradientReshape,
    .positions = {positions::reshape},
};

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

static bool inferTranspose(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  if (!checkPermutation(ctx, param::perm, x.rank())) // C1
    return false;
  Shape shape;
  for (int64_t axis : normalized(ctx.get(param::perm), x.rank()))
    shape.push_back(x.shape[axis]);
  return ctx.result({x.dtype, shape});
}

static void evalTranspose(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  Shape strides = rowMajorStrides(x.type.shape), permuted;
  for (int64_t axis : normalized(ctx.get(param::perm), x.type.rank()))
    permuted.push_back(strides[axis]);
  copyElements(out.type.shape, x.data.data(), permuted, out.data.data(),
               rowMajorStrides(out.type.shape));
}

static void gradientTranspose(Gradient &g) {
  Shape perm = normalized(g.op.get(param::perm), g.rank(0));
  Shape inverse(perm.size());
  for (auto [to, from] : llvm::enumerate(perm))
    inverse[from] = int64_t(to);
  g.give(0, [&] { return g.transpose(g.dy(), inverse); });
}

static bool positionsTranspose(PositionFlow &f) {
  Shape perm = f.op.get(param::perm);
  for (unsigned i = 0; i < perm.size(); ++i)
    if (PositionFlow::normalized(perm[i], perm.size()) == *f.in[0])
      return f.keep(i);
  return f.fail("loses the positions");
}

constinit const OpDef ops::Transpose = {
    .name = "transpose",
    .summary = "Reorders axes: axis i of the result is axis `perm`[i] of `x`.",
    .family = "shape",
    .params = {value(param::x, movableTypes), integers(param::perm)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`perm` is a permutation of the axes of `x`"},
    .infer = inferTranspose,
    .eval = evalTranspose,
    .gradient = gradientTranspose,
    .positions = {positionsTranspose},
};

//===----------------------------------------------------------------------===//
// tile
//===----------------------------------------------------------------------===//

static bool inferTile(InferContext &ctx) {
  TensorType type = ctx.type(0);
  if (!checkLength(ctx, param::reps, type.rank()) || // C1
      !checkRange(ctx, param::reps, 1))              // C2
    return false;
  Shape reps = ctx.get(param::reps);
  for (unsigned axis = 0; axis < type.rank(); ++axis)
    type.shape[axis] *= reps[axis];
  return ctx.result(type);
}

static void evalTile(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  // Splits each axis into (repetition, position); repetitions have stride 0.
  Shape pairs, from, strides = rowMajorStrides(x.type.shape);
  Shape reps = ctx.get(param::reps);
  for (unsigned axis = 0; axis < x.type.rank(); ++axis) {
    pairs.append({reps[axis], x.type.shape[axis]});
    from.append({0, strides[axis]});
  }
  copyElements(pairs, x.data.data(), from, out.data.data(),
               rowMajorStrides(pairs));
}

/// Sums over the repetitions, after giving them axes of their own.
static void gradientTile(Gradient &g) {
  Shape reps = g.op.get(param::reps), split, repetitions;
  for (auto [axis, extent] : llvm::enumerate(g.shape(0))) {
    if (reps[axis] != 1) {
      repetitions.push_back(int64_t(split.size()));
      split.push_back(reps[axis]);
    }
    split.push_back(extent);
  }
  g.give(0, [&] {
    return g.reshape(g.sum(g.reshape(g.dy(), split), repetitions), g.shape(0));
  });
}

static bool positionsTile(PositionFlow &f) {
  return f.op.get(param::reps)[*f.in[0]] != 1 ? f.fail("repeats the positions")
                                              : positions::same(f);
}

constinit const OpDef ops::Tile = {
    .name = "tile",
    .summary = "Repeats `x` `reps`[i] times along axis i.",
    .family = "shape",
    .params = {value(param::x, basicTypes), integers(param::reps)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`reps` has an element for each axis of `x`",
                    "repetitions are at least 1"},
    .infer = inferTile,
    .eval = evalTile,
    .gradient = gradientTile,
    .positions = {positionsTile},
};

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

static bool inferPad(InferContext &ctx) {
  TensorType type = ctx.type(0);
  Shape pad = ctx.get(param::pad);
  if (pad.size() % 2 || pad.size() > 2 * type.rank()) // C1
    return ctx.fail(
        diag::PadLength(ctx.opName(), pad.size(), ctx.describeOperand(0)), {0});
  if (!checkRange(ctx, param::pad, 0) || // C2
      !checkMode(ctx, param::padMode))   // C3
    return false;
  bool reflects = ctx.get(param::padMode) == PadMode::Reflect;
  unsigned first = type.rank() - pad.size() / 2;
  for (unsigned axis = first; axis < type.rank(); ++axis) {
    int64_t &extent = type.shape[axis];
    int64_t before = pad[2 * (axis - first)],
            after = pad[2 * (axis - first) + 1];
    if (reflects && std::max(before, after) >= extent) // C4
      return ctx.fail(
          diag::PadReflect(ctx.opName(), std::max(before, after), axis, extent),
          {0});
    extent += before + after;
  }
  return ctx.result(type);
}

/// The position in an axis of `extent` elements that padding position `i`
/// (negative before the axis) copies.
static int64_t paddingSource(int64_t i, int64_t extent, PadMode mode) {
  switch (mode) {
  case PadMode::Reflect:
    return i < 0 ? -i : i >= extent ? 2 * (extent - 1) - i : i;
  case PadMode::Constant: // for positions of the axis
  case PadMode::Replicate:
    break;
  }
  return std::clamp<int64_t>(i, 0, extent - 1);
}

/// Extends `data` of shape `shape` along one axis.
static std::vector<double> padAxis(const std::vector<double> &data,
                                   llvm::ArrayRef<int64_t> shape, int64_t axis,
                                   int64_t before, int64_t after, PadMode mode,
                                   double constant) {
  AxisView view = viewAxis(shape, axis);
  std::vector<double> out;
  out.reserve(view.outer * (view.extent + before + after) * view.inner);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = -before; i < view.extent + after; ++i) {
      if (mode == PadMode::Constant && (i < 0 || i >= view.extent)) {
        out.insert(out.end(), view.inner, constant);
        continue;
      }
      int64_t source = paddingSource(i, view.extent, mode);
      auto row = data.begin() + (o * view.extent + source) * view.inner;
      out.insert(out.end(), row, row + view.inner);
    }
  return out;
}

static void evalPad(EvalContext &ctx) {
  std::vector<double> data = ctx.in[0]->data;
  Shape shape = ctx.in[0]->type.shape, pad = ctx.get(param::pad);
  unsigned first = shape.size() - pad.size() / 2;
  for (unsigned axis = first; axis < shape.size(); ++axis) {
    int64_t before = pad[2 * (axis - first)],
            after = pad[2 * (axis - first) + 1];
    data = padAxis(data, shape, axis, before, after, ctx.get(param::padMode),
                   ctx.get(param::constantVal));
    shape[axis] += before + after;
  }
  ctx.out[0].data = std::move(data);
}

/// Removes the padding. For modes that copy elements, adds its gradient to the
/// copied elements, axis by axis.
static void gradientPad(Gradient &g) {
  Shape pad = g.op.get(param::pad), begin(g.rank(0), 0);
  size_t first = g.rank(0) - pad.size() / 2;
  for (size_t axis = first; axis < begin.size(); ++axis)
    begin[axis] = pad[2 * (axis - first)];
  PadMode mode = g.op.get(param::padMode);
  if (mode != PadMode::Constant &&
      !llvm::all_of(g.op.result()->type.shape,
                    [&](int64_t extent) { return g.canBake(extent); }))
    return;
  g.give(0, [&] {
    Value *dx = g.dy();
    if (mode == PadMode::Constant)
      return g.slice(dx, begin, g.shape(0));
    for (size_t axis = first; axis < begin.size(); ++axis) {
      int64_t extent = g.shape(0)[axis], padded = dx->type.shape[axis];
      if (padded == extent)
        continue;
      Shape sources, shape = dx->type.shape;
      for (int64_t i = 0; i < padded; ++i)
        sources.push_back(paddingSource(i - begin[axis], extent, mode));
      shape[axis] = extent;
      dx = g.make(ops::Scatter,
                  {g.fill(shape, 0), g.indices(padded, sources), dx},
                  Attr(param::axis, int64_t(axis)));
    }
    return dx;
  });
}

static bool positionsPad(PositionFlow &f) {
  Shape amounts = f.op.get(param::pad);
  unsigned first = f.rank(0) - unsigned(amounts.size() / 2);
  for (unsigned side : {0u, 1u})
    if (*f.in[0] >= first && amounts[2 * (*f.in[0] - first) + side] != 0)
      return f.fail("adds positions");
  return positions::same(f);
}

constinit const OpDef ops::Pad = {
    .name = "pad",
    .summary = "Pads the last axes of `x` by `pad` = (before, after) each: "
               "with `constant_val`, by reflection, or by repeating the edge.",
    .family = "shape",
    .params = {value(param::x), integers(param::pad),
               mode(param::padMode, PadMode::Constant),
               number(param::constantVal, "0")},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`pad` has one pair per padded axis, and at most as many "
                    "pairs as `x` has axes",
                    "amounts are at least 0", oneOf<"`mode` is ", PadMode>,
                    "reflections are shorter than the axis"},
    .infer = inferPad,
    .eval = evalPad,
    .gradient = gradientPad,
    .positions = {positionsPad},
};
