//===- RmsNorm.cpp - root-mean-square normalization -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"
#include <cmath>

using namespace anec;

static bool inferRmsNorm(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  int64_t axis = ctx.intAttr("axis");
  if (!ctx.normalizeAxis(axis, x.rank()) || // C1
      !checkShape(ctx, 1, x.shape[axis]))   // C2
    return false;
  double epsilon = ctx.constant("epsilon")->asDouble();
  if (!(epsilon >= 0 && epsilon <= 1)) // C3
    return failNumber(ctx, "epsilon", "0 to 1");
  return inferSame(ctx);
}

static void evalRmsNorm(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &gamma = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  AxisView view =
      viewAxis(x.type.shape, normalized(ctx.intAttr("axis"), x.type.rank()));
  double epsilon = ctx.floatAttr("epsilon");
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n) {
      int64_t first = o * view.extent * view.inner + n;
      double sum = 0;
      for (int64_t i = 0; i < view.extent; ++i) {
        double element = x.data[first + i * view.inner];
        sum += element * element;
      }
      double root = std::sqrt(sum / double(view.extent) + epsilon);
      for (int64_t i = 0; i < view.extent; ++i)
        out.data[first + i * view.inner] =
            x.data[first + i * view.inner] / root * gamma.data[i];
    }
}

/// Square, sum, scaling, gamma.
static int64_t flopsRmsNorm(const Op &op) {
  return saturatingProduct({4, op.result()->type.numElements()});
}

/// With s = 1 / max(max|x|, c) per row, and exactly so for any s > 0:
///
///   y   = x s
///   out = y (mean(y^2) + epsilon s^2)^(-1/2) gamma
///
/// The plain form x (mean(x^2) + epsilon)^(-1/2) does not fit fp16: its sum of
/// squares overflows once the root mean square of 768 elements exceeds 9.2, its
/// squares vanish below 2.4e-4, and an epsilon of 1e-5 or less is subnormal.
/// Here y is in [-1, 1] with, as a rule, an element of 1, so the sum of squares
/// is in [1, extent]. As s occurs on both sides of the fraction, its rounding
/// cancels, however coarse the engine's reciprocal is.
///
/// The floor c keeps s finite for a row of zeros. It is the power of two next
/// to sqrt(epsilon), so that epsilon s^2 = (sqrt(epsilon) s)^2 is at most 2,
/// and at least 2^-12, which has a reciprocal in fp16. A row below it is mostly
/// epsilon, or (for epsilon near 0) still has squares that fp16 represents.
static void decomposeRmsNorm(Builder &builder, const Op &op,
                             llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Value *x = op.operand(0u), *gamma = op.operand(1u);
  unsigned rank = x->type.rank();
  int64_t axis = normalized(op.intAttr("axis"), rank);
  int64_t extent = x->type.shape[axis];
  double rootEpsilon = std::sqrt(op.floatAttr("epsilon"));
  double floor =
      rootEpsilon > 0 ? std::exp2(std::round(std::log2(rootEpsilon))) : 0;
  floor = std::max(floor, std::exp2(-12));
  Attr alongAxis[] = {{"axes", llvm::ArrayRef(axis)}, {"keep_dims", true}};

  Value *magnitude = d.make(ops::Abs, {x}, "abs");
  Value *largest = d.make(ops::ReduceMax, {magnitude}, alongAxis, "largest");
  Value *bounded =
      d.make(ops::Maximum, {largest, d.scalar(floor, "floor")}, "bounded");
  Value *s = d.make(ops::Inverse, {bounded},
                    Attr("epsilon", Constant::scalar(x->type.dtype, 0)), "s");
  Value *y = d.make(ops::Mul, {x, s}, "y");
  Value *square = d.make(ops::Mul, {y, y}, "square");
  Value *sum = d.make(ops::ReduceSum, {square}, alongAxis, "sum");
  // Not times 1 / extent: most extents are exact in fp16, and few inverses.
  Value *mean =
      d.make(ops::RealDiv, {sum, d.scalar(double(extent), "extent")}, "mean");
  Value *shift =
      d.make(ops::Mul, {s, d.scalar(rootEpsilon, "root_epsilon")}, "shift");
  Value *shiftSquare = d.make(ops::Mul, {shift, shift}, "shift_square");
  Value *variance = d.make(ops::Add, {mean, shiftSquare}, "variance");
  Value *r = d.make(ops::Pow, {variance, d.scalar(-0.5, "minus_half")}, "r");
  Value *unit = d.make(ops::Mul, {y, r}, "unit");
  if (rank > 1) {
    Shape perAxis(rank, 1);
    perAxis[axis] = extent;
    gamma = d.reshape(gamma, perAxis, "gamma");
  }
  results.push_back(d.make(ops::Mul, {unit, gamma}));
}

constinit const OpDef ops::RmsNorm = {
    .name = "rmsnorm",
    .summary = "`x` divided by sqrt(mean of squares + `epsilon`) along `axis`, "
               "times `gamma`.",
    .family = "norm",
    .params = {value("x"), value("gamma", floats, 'T', "[extent at `axis`]"),
               number("epsilon", "1e-05", 0, {DType::FP32}),
               integer("axis", "0")},
    .constraints = {"`axis` is an axis of `x`",
                    "`gamma` has an element for each of `x` along `axis`",
                    "`epsilon` is in [0, 1]"},
    .infer = inferRmsNorm,
    .eval = evalRmsNorm,
    .decompose = decomposeRmsNorm,
    .flops = flopsRmsNorm,
};
