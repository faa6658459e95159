//===- RmsNorm.cpp - root-mean-square normalization -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// rmsnorm, and inverse_rms, a factor of it that its gradient needs.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/RmsNorm.h"
#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/Elements.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include <cmath>

using namespace anec;

static bool checkEpsilon(InferContext &ctx) {
  double epsilon = ctx.constant(param::epsilon)->asDouble();
  return (epsilon >= 0 && epsilon <= 1) ||
         failNumber(ctx, param::epsilon, "0 to 1");
}

static bool inferRmsNorm(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  return ctx.normalizeAxis(axis, x.rank()) && // C1
         checkShape(ctx, 1, x.shape[axis]) && // C2
         checkEpsilon(ctx) && inferSame(ctx); // C3
}

static bool inferInverseRms(InferContext &ctx) {
  TensorType type = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, type.rank()) || // C1
      !checkEpsilon(ctx))                      // C2
    return false;
  type.shape[axis] = 1;
  return ctx.result(type);
}

/// Calls `fn(first, row, root)` for each row along the axis, with the position
/// of its first element, its number, and sqrt(mean of squares + epsilon).
template <typename Fn>
static void forEachRoot(EvalContext &ctx, Fn fn) {
  const RefTensor &x = *ctx.in[0];
  AxisView view =
      viewAxis(x.type.shape, normalized(ctx.get(param::axis), x.type.rank()));
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n) {
      int64_t first = o * view.extent * view.inner + n;
      double sum = 0;
      for (int64_t i = 0; i < view.extent; ++i) {
        double element = x.data[first + i * view.inner];
        sum += element * element;
      }
      fn(first, o * view.inner + n,
         std::sqrt(sum / double(view.extent) + ctx.get(param::epsilon)));
    }
}

static void evalRmsNorm(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &gamma = *ctx.in[1];
  AxisView view =
      viewAxis(x.type.shape, normalized(ctx.get(param::axis), x.type.rank()));
  forEachRoot(ctx, [&](int64_t first, int64_t, double root) {
    for (int64_t i = 0; i < view.extent; ++i)
      ctx.out[0].data[first + i * view.inner] =
          x.data[first + i * view.inner] / root * gamma.data[i];
  });
}

static void evalInverseRms(EvalContext &ctx) {
  forEachRoot(ctx, [&](int64_t, int64_t row, double root) {
    ctx.out[0].data[row] = 1 / root;
  });
}

/// Square, sum, scaling, gamma.
static int64_t flopsRmsNorm(const Op &op) {
  return saturatingProduct({4, op.result()->type.numElements()});
}

static int64_t flopsInverseRms(const Op &op) {
  return saturatingProduct({2, op.operand(0u)->type.numElements()});
}

/// With s = 1 / max(max|x|, c) per row (the result is the same for any s > 0):
///
///   y   = x s
///   out = y (mean(y^2) + epsilon s^2)^(-1/2) gamma
///
/// Here y is in [-1, 1] and usually has an element of 1, so the sum of squares
/// is in [1, extent]. Since s occurs in both numerator and denominator, its
/// rounding error cancels, however coarse the engine's reciprocal is.
///
/// The lower bound c keeps s finite for a row of zeros. It is the power of two
/// nearest to sqrt(epsilon), so that epsilon s^2 = (sqrt(epsilon) s)^2 is at
/// most 2; and at least 2^-12, whose reciprocal fits fp16. A row below c is
/// dominated by epsilon, or (for epsilon near 0) still has squares that fp16
/// represents.
struct Scaled {
  Value *y, *s, *r; ///< r = (mean(y^2) + epsilon s^2)^(-1/2)
};

static Scaled decomposeScaled(Decomposition &d, const Op &op) {
  Value *x = op.operand(0u);
  int64_t axis = normalized(op.get(param::axis), x->type.rank());
  int64_t extent = x->type.shape[axis];
  double rootEpsilon = std::sqrt(op.get(param::epsilon));
  // Of a row of zeros, epsilon s^2 is all there is: it must not vanish.
  DType dtype = x->type.dtype;
  if (rootEpsilon > 0 && roundToDType(rootEpsilon, dtype) == 0)
    rootEpsilon = smallestNormal(dtype);
  double floor =
      rootEpsilon > 0 ? std::exp2(std::round(std::log2(rootEpsilon))) : 0;
  floor = std::max(floor, std::exp2(-12));
  Attr alongAxis[] = {{param::axes, llvm::ArrayRef(axis)},
                      {param::keepDims, true}};

  Value *magnitude = d.make(ops::Abs, {x}, "abs");
  Value *largest = d.make(ops::ReduceMax, {magnitude}, alongAxis, "largest");
  Value *bounded =
      d.make(ops::Maximum, {largest, d.scalar(floor, "floor")}, "bounded");
  Value *s =
      d.make(ops::Inverse, {bounded},
             Attr(param::epsilon, Constant::scalar(x->type.dtype, 0)), "s");
  Value *y = d.make(ops::Mul, {x, s}, "y");
  Value *square = d.make(ops::Mul, {y, y}, "square");
  Value *sum = d.make(ops::ReduceSum, {square}, alongAxis, "sum");
  // Divide instead of multiplying by 1 / extent: fp16 represents most extents
  // exactly, but few of their inverses.
  Value *mean =
      d.make(ops::RealDiv, {sum, d.scalar(double(extent), "extent")}, "mean");
  Value *shift =
      d.make(ops::Mul, {s, d.scalar(rootEpsilon, "root_epsilon")}, "shift");
  Value *shiftSquare = d.make(ops::Mul, {shift, shift}, "shift_square");
  Value *variance = d.make(ops::Add, {mean, shiftSquare}, "variance");
  return {y, s,
          d.make(ops::Pow, {variance, d.scalar(-0.5, "minus_half")}, "r")};
}

static void decomposeRmsNorm(Builder &builder, const Op &op,
                             llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Value *gamma = op.operand(1u);
  const Shape &shape = op.result()->type.shape;
  Scaled x = decomposeScaled(d, op);
  Value *unit = d.make(ops::Mul, {x.y, x.r}, "unit");
  if (shape.size() > 1) {
    int64_t axis = normalized(op.get(param::axis), shape.size());
    Shape perAxis(shape.size(), 1);
    perAxis[axis] = shape[axis];
    gamma = d.reshape(gamma, perAxis, "gamma");
  }
  results.push_back(d.make(ops::Mul, {unit, gamma}));
}

/// (mean(x^2) + epsilon)^(-1/2) = s r
static void decomposeInverseRms(Builder &builder, const Op &op,
                                llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Scaled x = decomposeScaled(d, op);
  results.push_back(d.make(ops::Mul, {x.s, x.r}));
}

/// With r = inverse_rms(x) and u = x r, out = u gamma:
///
///   dgamma = sum(dout u)
///   dx     = r (dout gamma - u mean(dout gamma u))
///
/// gamma is inside the mean, since it differs from element to element.
static void gradientRmsNorm(Gradient &g) {
  unsigned rank = g.rank(0);
  int64_t axis = normalized(g.op.get(param::axis), rank);
  auto inverse = [&] {
    return g.make(
        ops::InverseRms, {g.in(0)},
        {{param::epsilon, g.op.constant(param::epsilon)}, {param::axis, axis}});
  };
  g.give(0, [&] {
    Value *r = inverse(), *unit = g.mul(g.in(0), r);
    Value *weighted = g.mul(g.dy(), g.along(g.in(1), rank, axis));
    Value *mean = g.mean(g.mul(weighted, unit), axis);
    return g.mul(r, g.sub(weighted, g.mul(unit, mean)));
  });
  g.give(1, [&] {
    return g.sumAlong(g.mul(g.dy(), g.mul(g.in(0), inverse())), axis);
  });
}

/// r = (mean(x^2) + epsilon)^(-1/2): dx = -dr r^3 x / extent
static void gradientInverseRms(Gradient &g) {
  int64_t axis = normalized(g.op.get(param::axis), g.rank(0));
  g.give(0, [&] {
    Value *r = g.out();
    Value *factor = g.mul(g.mul(g.dy(), g.mul(r, r)), r);
    return g.mul(g.in(0), g.mul(factor, -1 / double(g.shape(0)[axis])));
  });
}

constinit const OpDef ops::RmsNorm = {
    .name = "rmsnorm",
    .summary = "`x` divided by sqrt(mean of squares + `epsilon`) along `axis`, "
               "times `gamma`.",
    .family = "norm",
    .params = {value(param::x),
               value(param::gamma, floats, 'T', "[extent at `axis`]"),
               epsilon("1e-05", {DType::FP32}),
               integer(param::axis, "channels")},
    .constraints =
        {"`axis` is an axis of `x`",
         "`gamma` has an element for each element of `x` along `axis`",
         "`epsilon` is in [0, 1]"},
    .infer = inferRmsNorm,
    .eval = evalRmsNorm,
    .decompose = decomposeRmsNorm,
    .flops = flopsRmsNorm,
    .gradient = gradientRmsNorm,
    .positions = {positions::alongAxis},
};

constinit const OpDef ops::InverseRms = {
    .name = "inverse_rms",
    .summary = "(mean of squares of `x` + `epsilon`)^(-1/2) along `axis`, "
               "which has extent 1 in the result.",
    .family = "norm",
    .params = {value(param::x), epsilon("1e-05", {DType::FP32}),
               integer(param::axis, "channels")},
    .constraints = {"`axis` is an axis of `x`", "`epsilon` is in [0, 1]"},
    .infer = inferInverseRms,
    .eval = evalInverseRms,
    .decompose = decomposeInverseRms,
    .flops = flopsInverseRms,
    .gradient = gradientInverseRms,
    .positions = {positions::alongAxis},
};
