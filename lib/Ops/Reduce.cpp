//===- Reduce.cpp - reductions over axes ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Reduce.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;

/// `shape` without `axes`; with `keep`, they remain with extent 1.
static Shape dropAxes(llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<int64_t> axes, bool keep) {
  Shape result;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (!llvm::is_contained(axes, int64_t(axis)))
      result.push_back(shape[axis]);
    else if (keep)
      result.push_back(1);
  return result;
}

static bool inferReduce(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  Shape axes = ctx.get(param::axes);
  if (!normalizeAxes(ctx, axes, x.rank())) // C1
    return false;
  return ctx.result(
      {x.dtype, dropAxes(x.shape, axes, ctx.get(param::keepDims))});
}

static int64_t flopsReduce(const Op &op) {
  return op.operand(0u)->type.numElements();
}

namespace {
/// A fold that starts at `start`; `finish` computes the result from the folded
/// value and the number of elements.
struct Fold {
  double start;
  double (*step)(double folded, double x);
  double (*finish)(double folded, double count);
};
} // namespace

static void fold(const Fold &how, EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  Shape axes = normalized(ctx.get(param::axes), x.type.rank());
  std::fill(out.data.begin(), out.data.end(), how.start);
  forEachElement<2>(
      x.type.shape,
      {rowMajorStrides(x.type.shape), reducedStrides(x.type.shape, axes)},
      [&](const auto &at) {
        double &folded = out.data[at[1]];
        folded = how.step(folded, x.data[at[0]]);
      });
  double count = double(x.data.size()) / double(out.data.size());
  for (double &folded : out.data)
    folded = how.finish(folded, count);
  settleIntegers(out);
}

template <const Fold &how>
static void evalReduce(EvalContext &ctx) {
  fold(how, ctx);
}

static double plus(double folded, double x) { return folded + x; }
static double plusSquare(double folded, double x) { return folded + x * x; }
static double plusMagnitude(double folded, double x) {
  return folded + std::fabs(x);
}
static double times(double folded, double x) { return folded * x; }
static double asIs(double folded, double) { return folded; }
static double average(double folded, double count) { return folded / count; }
static double rootOf(double folded, double) { return std::sqrt(folded); }
static double logOf(double folded, double) { return std::log(folded); }

static constexpr Fold sumFold = {0, plus, asIs};
static constexpr Fold meanFold = {0, plus, average};
static constexpr Fold maxFold = {-INFINITY, larger, asIs};
static constexpr Fold minFold = {INFINITY, smaller, asIs};
static constexpr Fold productFold = {1, times, asIs};
static constexpr Fold sumSquareFold = {0, plusSquare, asIs};
static constexpr Fold l1Fold = {0, plusMagnitude, asIs};
static constexpr Fold l2Fold = {0, plusSquare, rootOf};
static constexpr Fold logSumFold = {0, plus, logOf};

/// log(sum exp(x)) = top + log(sum exp(x - top)) with the maximum top, which
/// does not overflow; with top = 0 where the maximum is infinite or NaN.
static void evalLogSumExp(EvalContext &ctx) {
  fold(maxFold, ctx);
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  Shape axes = normalized(ctx.get(param::axes), x.type.rank());
  std::vector<double> sums(out.data.size());
  for (double &top : out.data)
    top = std::isfinite(top) ? top : 0;
  forEachElement<2>(
      x.type.shape,
      {rowMajorStrides(x.type.shape), reducedStrides(x.type.shape, axes)},
      [&](const auto &at) {
        sums[at[1]] += std::exp(x.data[at[0]] - out.data[at[1]]);
      });
  for (size_t i = 0; i < sums.size(); ++i)
    out.data[i] += std::log(sums[i]);
  settleIntegers(out);
}

namespace {
/// The values of a reduction's gradient, with the reduced axes kept.
class ReductionGradient {
public:
  explicit ReductionGradient(Gradient &g)
      : g(g), axes(normalized(g.op.get(param::axes), g.rank(0))),
        kept(dropAxes(g.shape(0), axes, /*keep=*/true)) {}

  Value *x() { return g.in(0); }
  Value *y() { return g.reshape(g.out(), kept); }
  Value *dy() { return g.reshape(g.dy(), kept); }
  Value *sum(Value *x) { return g.sum(x, axes); }
  double count() const {
    double count = 1;
    for (int64_t axis : axes)
      count *= double(g.shape(0)[axis]);
    return count;
  }
  /// Repeats `x` along the reduced axes.
  Value *spread(Value *x) { return g.spread(x, g.shape(0)); }

  Gradient &g;
  Shape axes, kept;
};
} // namespace

template <Value *(*rule)(ReductionGradient &)>
static void gradientReduce(Gradient &g) {
  ReductionGradient r(g);
  g.give(0, [&] { return rule(r); });
}

static Value *gradientSum(ReductionGradient &r) { return r.spread(r.dy()); }
static Value *gradientMean(ReductionGradient &r) {
  return r.spread(r.g.mul(r.dy(), 1 / r.count()));
}
/// The gradient goes to the largest or smallest element; equal ones share it.
static Value *gradientExtreme(ReductionGradient &r) {
  Gradient &g = r.g;
  Value *taken = g.indicator(g.make(ops::Equal, {r.x(), r.y()}));
  return g.mul(taken, g.div(r.dy(), r.sum(taken)));
}
/// The product of the other elements: the product of all, with zeros replaced
/// by ones, divided by the element; 0 when another element is zero.
static Value *gradientProduct(ReductionGradient &r) {
  Gradient &g = r.g;
  Value *isZero = g.make(ops::Equal, {r.x(), g.scalar(0)});
  Value *zero = g.indicator(isZero);
  Value *safe = g.select(isZero, g.scalar(1), r.x());
  Value *product = g.make(ops::ReduceProd, {safe},
                          {{param::axes, llvm::ArrayRef<int64_t>(r.axes)},
                           {param::keepDims, true}});
  Value *otherZeros = g.sub(r.sum(zero), zero);
  Value *others = g.where(g.below(otherZeros, 0.5), g.div(product, safe));
  return g.mul(others, r.dy());
}
static Value *gradientSumSquare(ReductionGradient &r) {
  return r.g.mul(r.x(), r.g.mul(r.dy(), 2));
}
static Value *gradientL1(ReductionGradient &r) {
  return r.g.mul(r.g.make(ops::Sign, {r.x()}), r.dy());
}
/// dx = x dy / y, or 0 where y is 0.
static Value *gradientL2(ReductionGradient &r) {
  Gradient &g = r.g;
  Value *factor = g.where(g.above(r.y(), 0), g.div(r.dy(), r.y()));
  return g.mul(r.x(), factor);
}
static Value *gradientLogSum(ReductionGradient &r) {
  return r.spread(r.g.div(r.dy(), r.sum(r.x())));
}
static Value *gradientLogSumExp(ReductionGradient &r) {
  return r.g.mul(r.g.exp(r.g.sub(r.x(), r.y())), r.dy());
}

static constexpr OpDef reduction(llvm::StringLiteral name,
                                 llvm::StringLiteral summary,
                                 void (*eval)(EvalContext &),
                                 void (*gradient)(Gradient &)) {
  return {.name = name,
          .summary = summary,
          .family = "reduce",
          .params = {value(param::x, numbers), integers(param::axes, "all"),
                     boolean(param::keepDims, "false")},
          .traits = trait::Mil | trait::Reduction,
          .constraints = {"`axes` are distinct axes of `x`"},
          .infer = inferReduce,
          .eval = eval,
          .flops = flopsReduce,
          .gradient = gradient};
}

constinit const OpDef ops::ReduceSum =
    reduction("reduce_sum", "The sum of `x` over `axes`.", evalReduce<sumFold>,
              gradientReduce<gradientSum>);
constinit const OpDef ops::ReduceMean =
    reduction("reduce_mean", "The mean of `x` over `axes`.",
              evalReduce<meanFold>, gradientReduce<gradientMean>);
constinit const OpDef ops::ReduceMax =
    reduction("reduce_max", "The largest element of `x` over `axes`.",
              evalReduce<maxFold>, gradientReduce<gradientExtreme>);
constinit const OpDef ops::ReduceMin =
    reduction("reduce_min", "The smallest element of `x` over `axes`.",
              evalReduce<minFold>, gradientReduce<gradientExtreme>);
constinit const OpDef ops::ReduceProd =
    reduction("reduce_prod", "The product of `x` over `axes`.",
              evalReduce<productFold>, gradientReduce<gradientProduct>);
constinit const OpDef ops::ReduceSumSquare =
    reduction("reduce_sum_square", "The sum of squares of `x` over `axes`.",
              evalReduce<sumSquareFold>, gradientReduce<gradientSumSquare>);
constinit const OpDef ops::ReduceL1Norm =
    reduction("reduce_l1_norm", "The sum of magnitudes of `x` over `axes`.",
              evalReduce<l1Fold>, gradientReduce<gradientL1>);
constinit const OpDef ops::ReduceL2Norm =
    reduction("reduce_l2_norm",
              "The square root of the sum of squares of `x` over `axes`.",
              evalReduce<l2Fold>, gradientReduce<gradientL2>);
constinit const OpDef ops::ReduceLogSum =
    reduction("reduce_log_sum", "The logarithm of the sum of `x` over `axes`.",
              evalReduce<logSumFold>, gradientReduce<gradientLogSum>);
constinit const OpDef ops::ReduceLogSumExp =
    reduction("reduce_log_sum_exp",
              "The logarithm of the sum of exponentials of `x` over `axes`.",
              evalLogSumExp, gradientReduce<gradientLogSumExp>);

//===----------------------------------------------------------------------===//
// argmax, argmin
//===----------------------------------------------------------------------===//

static bool inferArg(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, x.rank()) ||                                // C1
      !checkDType(ctx, param::outputDtype, {DType::Int32, DType::UInt16})) // C2
    return false;
  return ctx.result({ctx.get(param::outputDtype),
                     dropAxes(x.shape, axis, ctx.get(param::keepDims))});
}

template <bool (*better)(double, double)>
static void evalArg(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  AxisView view =
      viewAxis(x.type.shape, normalized(ctx.get(param::axis), x.type.rank()));
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n) {
      const double *row = &x.data[o * view.extent * view.inner + n];
      int64_t best = 0; // the first of equal ones
      for (int64_t i = 1; i < view.extent; ++i)
        if (better(row[i * view.inner], row[best * view.inner]))
          best = i;
      ctx.out[0].data[o * view.inner + n] = double(best);
    }
}

/// The first NaN is found before any number.
static bool above(double x, double y) {
  return x > y || (std::isnan(x) && !std::isnan(y));
}
static bool below(double x, double y) {
  return x < y || (std::isnan(x) && !std::isnan(y));
}

static constexpr OpDef argReduction(llvm::StringLiteral name,
                                    llvm::StringLiteral summary,
                                    void (*eval)(EvalContext &)) {
  return {.name = name,
          .summary = summary,
          .family = "reduce",
          .params = {value(param::x, numbers), integer(param::axis, "-1"),
                     boolean(param::keepDims, "false"),
                     since(17, dtypeName(param::outputDtype, DType::Int32))},
          .traits = trait::Mil | trait::Reduction | trait::AlongAxis |
                    trait::ZeroGradient,
          .constraints = {"`axis` is an axis of `x`",
                          "`output_dtype` is int32 or uint16"},
          .infer = inferArg,
          .eval = eval,
          .flops = flopsReduce};
}

constinit const OpDef ops::ReduceArgmax = argReduction(
    "reduce_argmax",
    "The index of the largest element of `x` along `axis`; the "
    "first one in case of ties, and the first NaN if there is one.",
    evalArg<above>);
constinit const OpDef ops::ReduceArgmin = argReduction(
    "reduce_argmin",
    "The index of the smallest element of `x` along `axis`; the "
    "first one in case of ties, and the first NaN if there is one.",
    evalArg<below>);
