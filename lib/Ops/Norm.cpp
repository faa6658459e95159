//===- Norm.cpp - normalizations --------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The normalizations of MIL. rmsnorm, which MIL lacks, is in RmsNorm.cpp.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Norm.h"
#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/RmsNorm.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {

/// With c = x - mean, r = (mean(c^2) + epsilon)^(-1/2) and u = c r over some
/// axes, y = u gamma + beta:
///
///   dx = r (dy gamma - mean(dy gamma) - u mean(dy gamma u))
///   dgamma = sum(dy u),  dbeta = sum(dy)
///
/// x is transposed and reshaped to [rows, count], so that a row is the last
/// axis.
class RowsGradient {
public:
  RowsGradient(Gradient &g, llvm::ArrayRef<int64_t> axes) : g(g) {
    llvm::ArrayRef<int64_t> shape = g.shape(0);
    for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis)
      if (!llvm::is_contained(axes, axis))
        perm.push_back(axis);
    perm.append(axes.begin(), axes.end());
    for (int64_t axis : perm)
      permuted.push_back(shape[axis]);
    count = saturatingProduct(llvm::ArrayRef(permuted).take_back(axes.size()));
    rows = g.op.operand(0u)->type.numElements() / count;
  }

  Value *toRows(Value *x) {
    return g.reshape(g.transpose(x, perm), {rows, count});
  }
  Value *fromRows(Value *x) {
    Shape inverse(perm.size());
    for (auto [to, from] : llvm::enumerate(perm))
      inverse[from] = int64_t(to);
    return g.transpose(g.reshape(x, permuted), inverse);
  }
  Value *centred() {
    Value *x = toRows(g.in(0));
    return g.sub(x, g.mean(x, 1));
  }
  Value *inverse() {
    double epsilon = g.op.get(param::epsilon);
    if (epsilon >= 0 && epsilon <= 1)
      return g.make(ops::InverseRms, {centred()},
                    {{param::epsilon, Constant::scalar(DType::FP32, epsilon)},
                     {param::axis, 1}});
    return g.pow(g.add(g.mean(g.square(centred()), 1), epsilon), -0.5);
  }
  Value *unit() { return g.mul(centred(), inverse()); }
  /// `weighted` is dy gamma as rows.
  Value *dx(Value *weighted) {
    Value *u = unit();
    Value *rest =
        g.add(g.mean(weighted, 1), g.mul(u, g.mean(g.mul(weighted, u), 1)));
    return fromRows(g.mul(inverse(), g.sub(weighted, rest)));
  }

private:
  Gradient &g;
  Shape perm, permuted;
  int64_t rows, count;
};

} // namespace

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

static bool inferLayerNorm(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  Shape axes = ctx.get(param::axes);
  if (!normalizeAxes(ctx, axes, x.rank())) // C1
    return false;
  Shape normalizedShape;
  for (int64_t axis : axes)
    normalizedShape.push_back(x.shape[axis]);
  return checkShape(ctx, 1, normalizedShape) && // C2
         checkShape(ctx, 2, normalizedShape) && // C2
         inferSame(ctx);
}

static void evalLayerNorm(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  const RefTensor *gamma = operandOrNull(ctx, 1), *beta = operandOrNull(ctx, 2);
  RefTensor &out = ctx.out[0];
  const Shape &shape = x.type.shape;
  Shape axes = normalized(ctx.get(param::axes), shape.size());
  Shape xStrides = rowMajorStrides(shape);
  Shape rowStrides = reducedStrides(shape, axes);
  // gamma and beta have one axis for each of `axes`, in that order.
  Shape parameterShape, parameterStrides(shape.size(), 0);
  for (int64_t axis : axes)
    parameterShape.push_back(shape[axis]);
  for (auto [axis, stride] : llvm::zip(axes, rowMajorStrides(parameterShape)))
    parameterStrides[axis] = stride;

  std::vector<double> mean(x.data.size()), variance(x.data.size());
  double count = 1;
  for (int64_t extent : parameterShape)
    count *= double(extent);
  forEachElement<2>(shape, {xStrides, rowStrides}, [&](const auto &at) {
    mean[at[1]] += x.data[at[0]] / count;
  });
  forEachElement<2>(shape, {xStrides, rowStrides}, [&](const auto &at) {
    double deviation = x.data[at[0]] - mean[at[1]];
    variance[at[1]] += deviation * deviation / count;
  });
  double epsilon = ctx.get(param::epsilon);
  forEachElement<3>(shape, {xStrides, rowStrides, parameterStrides},
                    [&](const auto &at) {
                      double y = (x.data[at[0]] - mean[at[1]]) /
                                 std::sqrt(variance[at[1]] + epsilon);
                      out.data[at[0]] = y * (gamma ? gamma->data[at[2]] : 1.0) +
                                        (beta ? beta->data[at[2]] : 0.0);
                    });
}

/// Mean, deviation, square, variance, scaling, gamma, beta.
static int64_t flopsLayerNorm(const Op &op) {
  return saturatingProduct({8, op.result()->type.numElements()});
}

static void gradientLayerNorm(Gradient &g) {
  Shape axes = normalized(g.op.get(param::axes), g.rank(0));
  RowsGradient r(g, axes);
  // The axes of gamma and beta are those of a row, in the same order.
  g.give(0, [&] {
    Value *weighted = r.toRows(g.dy());
    if (g.op.operand(param::gamma))
      weighted =
          g.mul(weighted,
                g.reshape(g.in(1), {1, g.op.operand(1u)->type.numElements()}));
    return r.dx(weighted);
  });
  g.give(1, [&] {
    Value *sum = g.sum(g.mul(r.toRows(g.dy()), r.unit()), 0);
    return g.reshape(sum, g.shape(1));
  });
  g.give(2, [&] { return g.reshape(g.sum(r.toRows(g.dy()), 0), g.shape(2)); });
}

/// layer_norm(x, gamma, beta) = layer_norm(x) gamma + beta, and the same of
/// instance_norm. `shape` broadcasts gamma and beta to x.
static Value *splitAffine(Builder &builder, const Op &op,
                          llvm::ArrayRef<Attr> attrs,
                          llvm::ArrayRef<int64_t> shape) {
  Decomposition d(builder, op);
  Value *gamma = op.operand(param::gamma), *beta = op.operand(param::betaValue);
  Value *y = d.make(op.def(), {op.operand(0u)}, attrs, "normal");
  if (gamma)
    y = d.make(ops::Mul, {y, d.reshape(d.cast(gamma, "gamma"), shape, "gamma")},
               beta ? "scaled" : "");
  if (beta)
    y = d.make(ops::Add, {y, d.reshape(d.cast(beta, "beta"), shape, "beta")});
  return y;
}

static Value *splitLayerNorm(Builder &builder, const Op &op) {
  const TensorType &x = op.operand(0u)->type;
  Shape axes = normalized(op.get(param::axes), x.rank()), shape(x.rank(), 1);
  for (int64_t axis : axes)
    shape[axis] = x.shape[axis];
  // Reshaping does not permute.
  if (!llvm::is_sorted(axes))
    return nullptr;
  return splitAffine(builder, op,
                     {{param::axes, op.constant(param::axes)},
                      {param::epsilon, op.constant(param::epsilon)}},
                     shape);
}

constinit const OpDef ops::LayerNorm = {
    .name = "layer_norm",
    .summary = "(`x` - mean) / sqrt(variance + `epsilon`) * `gamma` + `beta`, "
               "with the mean and variance over `axes`.",
    .family = "norm",
    .params = {value(param::x), integers(param::axes, "all"),
               stored(optionalValue(param::gamma, floats, 'U',
                                    "the extents at `axes`")),
               stored(optionalValue(param::betaValue, floats, 'U',
                                    "the extents at `axes`")),
               epsilon("1e-05")},
    .traits = trait::Mil,
    .constraints = {"`axes` are distinct axes of `x`",
                    "`gamma` and `beta` have the extents of `x` at `axes`"},
    .infer = inferLayerNorm,
    .eval = evalLayerNorm,
    .decomposeComputed = splitLayerNorm,
    .flops = flopsLayerNorm,
    .gradient = gradientLayerNorm,
    .positions = {positions::alongAxes},
};

//===----------------------------------------------------------------------===//
// l2_norm
//===----------------------------------------------------------------------===//

static bool inferL2Norm(InferContext &ctx) {
  return checkRank(ctx, 0, 3, UINT_MAX) && inferSame(ctx); // C1
}

static void evalL2Norm(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  int64_t count = 1;
  for (int64_t extent : llvm::ArrayRef(x.type.shape).take_back(3))
    count *= extent;
  double epsilon = ctx.get(param::epsilon);
  for (size_t first = 0; first < x.data.size(); first += count) {
    double sum = epsilon;
    for (int64_t i = 0; i < count; ++i)
      sum += x.data[first + i] * x.data[first + i];
    for (int64_t i = 0; i < count; ++i)
      ctx.out[0].data[first + i] = x.data[first + i] / std::sqrt(sum);
  }
}

static int64_t flopsL2Norm(const Op &op) {
  return saturatingProduct({3, op.result()->type.numElements()});
}

/// With r = (sum(x^2) + epsilon)^(-1/2) and y = x r: dx = r (dy - y sum(dy y)).
/// r is computed from the mean instead of the sum, which can overflow fp16.
static void gradientL2Norm(Gradient &g) {
  g.give(0, [&] {
    const Shape &shape = g.shape(0);
    int64_t count = saturatingProduct(llvm::ArrayRef(shape).take_back(3));
    Shape flat = {g.op.operand(0u)->type.numElements() / count, count};
    double epsilon = g.op.get(param::epsilon) / double(count);
    Value *x = g.reshape(g.in(0), flat), *y = g.reshape(g.out(), flat);
    Value *dy = g.reshape(g.dy(), flat);
    Value *r =
        g.mul(g.make(ops::InverseRms, {x},
                     {{param::epsilon, Constant::scalar(DType::FP32, epsilon)},
                      {param::axis, 1}}),
              1 / std::sqrt(double(count)));
    Value *rest = g.mul(y, g.sum(g.mul(dy, y), 1));
    return g.reshape(g.mul(r, g.sub(dy, rest)), shape);
  });
}

constinit const OpDef ops::L2Norm = {
    .name = "l2_norm",
    .summary = "`x` divided by sqrt(sum of squares + `epsilon`) over its last "
               "three axes.",
    .family = "norm",
    .params = {value(param::x), epsilon("1e-06")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of at least 3"},
    .infer = inferL2Norm,
    .eval = evalL2Norm,
    .flops = flopsL2Norm,
    .gradient = gradientL2Norm,
    .positions = {positions::alongLast<3>},
};

//===----------------------------------------------------------------------===//
// batch_norm
//===----------------------------------------------------------------------===//

static bool inferBatchNorm(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 5)) // C1
    return false;
  for (unsigned slot = 1; slot < 5; ++slot)
    if (!checkShape(ctx, slot, ctx.type(0).shape[1])) // C2
      return false;
  return inferSame(ctx);
}

static void evalBatchNorm(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &mean = *ctx.in[1], &variance = *ctx.in[2];
  const RefTensor *gamma = operandOrNull(ctx, 3), *beta = operandOrNull(ctx, 4);
  double epsilon = ctx.get(param::epsilon);
  AxisView view = viewAxis(x.type.shape, 1);
  for (size_t i = 0; i < x.data.size(); ++i) {
    int64_t c = int64_t(i) / view.inner % view.extent;
    double y =
        (x.data[i] - mean.data[c]) / std::sqrt(variance.data[c] + epsilon);
    ctx.out[0].data[i] =
        y * (gamma ? gamma->data[c] : 1.0) + (beta ? beta->data[c] : 0.0);
  }
}

/// One multiplication and one addition: the factors are known before running.
static int64_t flopsBatchNorm(const Op &op) {
  return saturatingProduct({2, op.result()->type.numElements()});
}

/// With r = (variance + epsilon)^(-1/2): dx = dy gamma r, dmean = -sum(dx),
/// dvariance = -sum(dx (x - mean)) r^2 / 2, dgamma = sum(dy (x - mean) r)
static void gradientBatchNorm(Gradient &g) {
  unsigned rank = g.rank(0);
  auto perChannel = [&](unsigned slot) { return g.along(g.in(slot), rank, 1); };
  auto r = [&] {
    return g.pow(g.add(perChannel(2), g.op.get(param::epsilon)), -0.5);
  };
  auto centred = [&] { return g.sub(g.in(0), perChannel(1)); };
  auto dx = [&] {
    Value *dx = g.mul(g.dy(), r());
    return g.op.operand(param::gamma) ? g.mul(dx, perChannel(3)) : dx;
  };
  g.give(0, dx);
  g.give(1, [&] { return g.negate(g.sumAlong(dx(), 1)); });
  g.give(2, [&] {
    Value *each = g.mul(g.mul(g.mul(dx(), centred()), g.square(r())), -0.5);
    return g.sumAlong(each, 1);
  });
  g.give(3,
         [&] { return g.sumAlong(g.mul(g.mul(g.dy(), centred()), r()), 1); });
  g.give(4, [&] { return g.sumAlong(g.dy(), 1); });
}

/// (x - mean) gamma (variance + epsilon)^(-1/2) + beta
static Value *decomposeBatchNorm(Builder &builder, const Op &op) {
  Decomposition d(builder, op);
  Value *beta = op.operand(param::betaValue);
  Value *factor =
      d.make(ops::Rsqrt, {d.perChannel(param::variance)},
             Attr(param::epsilon, Constant::scalar(op.operand(0u)->type.dtype,
                                                   op.get(param::epsilon))),
             "inverse");
  if (op.operand(param::gamma))
    factor = d.make(ops::Mul, {factor, d.perChannel(param::gamma)}, "factor");
  Value *centred =
      d.make(ops::Sub, {op.operand(0u), d.perChannel(param::mean)}, "centred");
  Value *y = d.make(ops::Mul, {centred, factor}, beta ? "scaled" : "");
  return beta ? d.make(ops::Add, {y, d.perChannel(param::betaValue)}) : y;
}

constinit const OpDef ops::BatchNorm = {
    .name = "batch_norm",
    .summary = "(`x` - `mean`) / sqrt(`variance` + `epsilon`) * `gamma` + "
               "`beta`, per channel (axis 1).",
    .family = "norm",
    .params = {value(param::x), stored(value(param::mean, floats, 'U')),
               stored(value(param::variance, floats, 'U')),
               stored(optionalValue(param::gamma, floats, 'U')),
               stored(optionalValue(param::betaValue, floats, 'U')),
               epsilon("1e-05")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5",
                    "the other operands have an element for each channel"},
    .infer = inferBatchNorm,
    .eval = evalBatchNorm,
    .decomposeComputed = decomposeBatchNorm,
    .flops = flopsBatchNorm,
    .gradient = gradientBatchNorm,
    .positions = {positions::perChannel},
};

//===----------------------------------------------------------------------===//
// instance_norm
//===----------------------------------------------------------------------===//

static bool inferInstanceNorm(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 4)) // C1
    return false;
  int64_t channels = ctx.type(0).shape[1];
  return checkShape(ctx, 1, channels) && // C2
         checkShape(ctx, 2, channels) && // C2
         inferSame(ctx);
}

static void evalInstanceNorm(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  const RefTensor *gamma = operandOrNull(ctx, 1), *beta = operandOrNull(ctx, 2);
  double epsilon = ctx.get(param::epsilon);
  AxisView view = viewAxis(x.type.shape, 1);
  for (int64_t row = 0; row < view.outer * view.extent; ++row) {
    const double *from = &x.data[row * view.inner];
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < view.inner; ++i)
      mean += from[i] / double(view.inner);
    for (int64_t i = 0; i < view.inner; ++i)
      variance += (from[i] - mean) * (from[i] - mean) / double(view.inner);
    int64_t c = row % view.extent;
    for (int64_t i = 0; i < view.inner; ++i)
      ctx.out[0].data[row * view.inner + i] =
          (from[i] - mean) / std::sqrt(variance + epsilon) *
              (gamma ? gamma->data[c] : 1.0) +
          (beta ? beta->data[c] : 0.0);
  }
}

static void gradientInstanceNorm(Gradient &g) {
  Shape axes;
  for (unsigned axis = 2; axis < g.rank(0); ++axis)
    axes.push_back(axis);
  RowsGradient r(g, axes);
  g.give(0, [&] {
    Value *dy = g.dy();
    if (g.op.operand(param::gamma))
      dy = g.mul(dy, g.along(g.in(1), g.rank(0), 1));
    return r.dx(r.toRows(dy));
  });
  g.give(1, [&] { return g.sumAlong(g.mul(g.dy(), r.fromRows(r.unit())), 1); });
  g.give(2, [&] { return g.sumAlong(g.dy(), 1); });
}

static Value *splitInstanceNorm(Builder &builder, const Op &op) {
  const TensorType &x = op.operand(0u)->type;
  Shape shape(x.rank(), 1);
  shape[1] = x.shape[1];
  return splitAffine(builder, op,
                     Attr(param::epsilon, op.constant(param::epsilon)), shape);
}

constinit const OpDef ops::InstanceNorm = {
    .name = "instance_norm",
    .summary = "(`x` - mean) / sqrt(variance + `epsilon`) * `gamma` + `beta`, "
               "with the mean and variance of each channel of each image.",
    .family = "norm",
    .params = {value(param::x),
               stored(optionalValue(param::gamma, floats, 'U')),
               stored(optionalValue(param::betaValue, floats, 'U')),
               epsilon("1e-05")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 or 4",
                    "`gamma` and `beta` have an element for each channel"},
    .infer = inferInstanceNorm,
    .eval = evalInstanceNorm,
    .decomposeComputed = splitInstanceNorm,
    .flops = flopsLayerNorm,
    .gradient = gradientInstanceNorm,
    .positions = {positions::combined},
};

//===----------------------------------------------------------------------===//
// local_response_norm
//===----------------------------------------------------------------------===//

static bool inferLocalResponseNorm(InferContext &ctx) {
  return checkRank(ctx, 0, 3, 5) &&               // C1
         checkRange(ctx, param::windowSize, 1) && // C2
         inferSame(ctx);
}

static void evalLocalResponseNorm(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  AxisView view = viewAxis(x.type.shape, 1);
  int64_t size = ctx.get(param::windowSize);
  double scale = ctx.get(param::alpha) / double(size);
  for (size_t i = 0; i < x.data.size(); ++i) {
    int64_t c = int64_t(i) / view.inner % view.extent;
    int64_t first = std::max<int64_t>(c - size / 2, 0);
    int64_t last = std::min(c + (size - 1) / 2, view.extent - 1);
    double sum = 0;
    for (int64_t other = first; other <= last; ++other) {
      double neighbour = x.data[int64_t(i) + (other - c) * view.inner];
      sum += neighbour * neighbour;
    }
    ctx.out[0].data[i] =
        x.data[i] /
        std::pow(ctx.get(param::responseK) + scale * sum, ctx.get(param::beta));
  }
}

static int64_t flopsLocalResponseNorm(const Op &op) {
  return saturatingProduct(
      {2, op.get(param::windowSize), op.result()->type.numElements()});
}

/// With d = k + alpha / size W x^2, where the matrix W sums the channels around
/// each channel, and y = x d^(-beta):
///
///   dx = dy d^(-beta) - 2 beta alpha / size x W^T (dy x d^(-beta - 1))
static void gradientLocalResponseNorm(Gradient &g) {
  int64_t channels = g.shape(0)[1], size = g.op.get(param::windowSize);
  double scale = g.op.get(param::alpha) / double(size);
  double beta = g.op.get(param::beta);
  if (!g.canBake({channels, channels}))
    return;
  std::vector<double> window(channels * channels);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t other = 0; other < channels; ++other)
      if (other >= c - size / 2 && other <= c + (size - 1) / 2)
        window[c * channels + other] = 1;
  g.give(0, [&] {
    int64_t images = g.shape(0)[0];
    Shape flat = {images, channels,
                  g.op.operand(0u)->type.numElements() / images / channels};
    Value *x = g.reshape(g.in(0), flat), *dy = g.reshape(g.dy(), flat);
    Value *around = g.array({channels, channels}, window);
    Value *sums = g.matmul(around, g.square(x), false, false);
    Value *d = g.add(g.mul(sums, scale), g.op.get(param::responseK));
    Value *direct = g.mul(dy, g.pow(d, -beta));
    Value *each = g.div(g.mul(direct, x), d);
    Value *shared = g.matmul(around, each, true, false);
    Value *rest = g.mul(x, g.mul(shared, 2 * beta * scale));
    return g.reshape(g.sub(direct, rest), g.shape(0));
  });
}

constinit const OpDef ops::LocalResponseNorm = {
    .name = "local_response_norm",
    .summary =
        "`x` divided by (`k` + `alpha` / `size` * s)^`beta`, where s is the "
        "sum of squares over the `size` channels around each channel.",
    .family = "norm",
    .params = {value(param::x), integer(param::windowSize),
               number(param::alpha, "1e-04", 0), number(param::beta, "0.75", 0),
               number(param::responseK, "1", 0)},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5", "`size` is at least 1"},
    .infer = inferLocalResponseNorm,
    .eval = evalLocalResponseNorm,
    .flops = flopsLocalResponseNorm,
    .gradient = gradientLocalResponseNorm,
    .positions = {positions::neighbors},
};
