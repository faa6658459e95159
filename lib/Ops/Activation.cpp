//===- Activation.cpp - activation functions --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Activation.h"
#include "Decompose.h"
#include "Elementwise.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Gelu.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

namespace anec::param {
ANEC_PARAM(alphaValue, "alpha", Value)
} // namespace anec::param

using namespace anec;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double silu(double x) { return x * sigmoid(x); }
static double hyperbolicTangent(double x) { return std::tanh(x); }
static double relu(double x) { return larger(x, 0); }
static double relu6(double x) { return smaller(relu(x), 6); }
/// log(1 + e^x), without overflow for large x.
static double softplus(double x) {
  return relu(x) + std::log1p(std::exp(-std::fabs(x)));
}
static double softsign(double x) { return x / (1 + std::fabs(x)); }

static constexpr OpDef activation(llvm::StringLiteral name,
                                  llvm::StringLiteral summary,
                                  void (*eval)(EvalContext &),
                                  void (*gradient)(Gradient &)) {
  return {.name = name,
          .summary = summary,
          .family = "activation",
          .params = {value(param::x)},
          .traits = trait::Mil | trait::Elementwise,
          .infer = inferSame,
          .eval = eval,
          .gradient = gradient};
}

/// s (1 - s)
static Value *derivativeSigmoid(Gradient &g) {
  return g.mul(g.out(), g.from(1, g.out()));
}
/// The derivative of x s with s = sigmoid(f x): s (1 + f x (1 - s))
static Value *derivativeGated(Gradient &g, double factor) {
  Value *x = factor == 1 ? g.in(0) : g.mul(g.in(0), factor);
  Value *s = g.sigmoid(x);
  return g.mul(s, g.add(g.mul(x, g.from(1, s)), 1));
}
static Value *derivativeSilu(Gradient &g) { return derivativeGated(g, 1); }
static Value *derivativeTanh(Gradient &g) {
  return g.from(1, g.square(g.out()));
}
static Value *isPositive(Gradient &g) { return g.above(g.in(0), 0); }
static Value *isWithin6(Gradient &g) {
  return g.both(isPositive(g), g.below(g.in(0), 6));
}
static Value *derivativeSoftplus(Gradient &g) { return g.sigmoid(g.in(0)); }
/// (1 + |x|)^-2
static Value *derivativeSoftsign(Gradient &g) {
  return g.pow(g.add(g.make(ops::Abs, {g.in(0)}), 1), -2);
}

constinit const OpDef ops::Sigmoid =
    activation("sigmoid", "1 / (1 + exp(-`x`)).", evalUnary<sigmoid>,
               gradientUnary<derivativeSigmoid>);
constinit const OpDef ops::Silu =
    activation("silu", "`x` * sigmoid(`x`).", evalUnary<silu>,
               gradientUnary<derivativeSilu>);
constinit const OpDef ops::Tanh =
    activation("tanh", "The hyperbolic tangent of `x`.",
               evalUnary<hyperbolicTangent>, gradientUnary<derivativeTanh>);
constinit const OpDef ops::Relu =
    activation("relu", "The larger of `x` and 0.", evalUnary<relu>,
               gradientWhere<isPositive>);
constinit const OpDef ops::Relu6 =
    activation("relu6", "Limits `x` to [0, 6].", evalUnary<relu6>,
               gradientWhere<isWithin6>);
constinit const OpDef ops::Softplus =
    activation("softplus", "log(1 + exp(`x`)).", evalUnary<softplus>,
               gradientUnary<derivativeSoftplus>);
constinit const OpDef ops::Softsign =
    activation("softsign", "`x` / (1 + |`x`|).", evalUnary<softsign>,
               gradientUnary<derivativeSoftsign>);

//===----------------------------------------------------------------------===//
// With parameters
//===----------------------------------------------------------------------===//

static constexpr OpDef withAlpha(llvm::StringLiteral name,
                                 llvm::StringLiteral summary,
                                 void (*eval)(EvalContext &),
                                 void (*gradient)(Gradient &)) {
  OpDef def = activation(name, summary, eval, gradient);
  def.params[1] = number(param::alpha, "", 0);
  return def;
}

static constexpr OpDef withAlphaBeta(llvm::StringLiteral name,
                                     llvm::StringLiteral summary,
                                     void (*eval)(EvalContext &),
                                     void (*gradient)(Gradient &)) {
  OpDef def = withAlpha(name, summary, eval, gradient);
  def.params[2] = number(param::beta, "", 0);
  return def;
}

template <double (*fn)(double x, double alpha)>
static void evalWithAlpha(EvalContext &ctx) {
  double alpha = ctx.get(param::alpha);
  forEachUnary(ctx, [=](double x) { return fn(x, alpha); });
}

template <double (*fn)(double x, double alpha, double beta)>
static void evalWithAlphaBeta(EvalContext &ctx) {
  double alpha = ctx.get(param::alpha), beta = ctx.get(param::beta);
  forEachUnary(ctx, [=](double x) { return fn(x, alpha, beta); });
}

static double leakyRelu(double x, double alpha) {
  return x < 0 ? alpha * x : x;
}
static double elu(double x, double alpha) {
  return x < 0 ? alpha * std::expm1(x) : x;
}
static double thresholdedRelu(double x, double alpha) {
  return x >= alpha ? x : 0;
}
static double clampedRelu(double x, double alpha, double beta) {
  return smaller(leakyRelu(x, alpha), beta);
}
static double linear(double x, double alpha, double beta) {
  return alpha * x + beta;
}
static double scaledTanh(double x, double alpha, double beta) {
  return alpha * std::tanh(beta * x);
}
static double hardSigmoid(double x, double alpha, double beta) {
  return smaller(larger(alpha * x + beta, 0), 1);
}

static Value *leakyReluGradient(Gradient &g) {
  Value *scaled = g.mul(g.dy(), g.op.get(param::alpha));
  return g.select(g.below(g.in(0), 0), scaled, g.dy());
}
static void gradientLeakyRelu(Gradient &g) {
  g.give(0, [&] { return leakyReluGradient(g); });
}
/// alpha e^x = alpha (e^x - 1) + alpha, the result plus alpha.
static Value *derivativeElu(Gradient &g) {
  return g.select(g.below(g.in(0), 0), g.add(g.out(), g.op.get(param::alpha)),
                  g.scalar(1));
}
static Value *isAboveAlpha(Gradient &g) {
  return g.make(ops::GreaterEqual, {g.in(0), g.scalar(g.op.get(param::alpha))});
}
static void gradientClampedRelu(Gradient &g) {
  g.give(0, [&] {
    Value *unlimited = g.below(g.out(), g.op.get(param::beta));
    return g.where(unlimited, leakyReluGradient(g));
  });
}
static Value *derivativeLinear(Gradient &g) {
  return g.scalar(g.op.get(param::alpha));
}
static Value *derivativeScaledTanh(Gradient &g) {
  double alpha = g.op.get(param::alpha), beta = g.op.get(param::beta);
  Value *tanh = g.make(ops::Tanh, {g.mul(g.in(0), beta)});
  return g.mul(g.from(1, g.square(tanh)), alpha * beta);
}
static void gradientSigmoidHard(Gradient &g) {
  g.give(0, [&] {
    Value *aboveZero = g.above(g.out(), 0), *belowOne = g.below(g.out(), 1);
    return g.where(g.both(aboveZero, belowOne),
                   g.mul(g.dy(), g.op.get(param::alpha)));
  });
}

constinit const OpDef ops::LeakyRelu =
    withAlpha("leaky_relu", "`x` where `x` >= 0, and `alpha` * `x` elsewhere.",
              evalWithAlpha<leakyRelu>, gradientLeakyRelu);
constinit const OpDef ops::Elu = withAlpha(
    "elu", "`x` where `x` >= 0, and `alpha` * (exp(`x`) - 1) elsewhere.",
    evalWithAlpha<elu>, gradientUnary<derivativeElu>);
constinit const OpDef ops::ThresholdedRelu =
    withAlpha("thresholded_relu", "`x` where `x` >= `alpha`, and 0 elsewhere.",
              evalWithAlpha<thresholdedRelu>, gradientWhere<isAboveAlpha>);
constinit const OpDef ops::ClampedRelu = withAlphaBeta(
    "clamped_relu",
    "min(`x`, `beta`) where `x` >= 0, and min(`alpha` * `x`, `beta`) "
    "elsewhere.",
    evalWithAlphaBeta<clampedRelu>, gradientClampedRelu);
constinit const OpDef ops::LinearActivation =
    withAlphaBeta("linear_activation", "`alpha` * `x` + `beta`.",
                  evalWithAlphaBeta<linear>, gradientUnary<derivativeLinear>);
constinit const OpDef ops::ScaledTanh = withAlphaBeta(
    "scaled_tanh", "`alpha` * tanh(`beta` * `x`).",
    evalWithAlphaBeta<scaledTanh>, gradientUnary<derivativeScaledTanh>);
constinit const OpDef ops::SigmoidHard =
    withAlphaBeta("sigmoid_hard", "Limits `alpha` * `x` + `beta` to [0, 1].",
                  evalWithAlphaBeta<hardSigmoid>, gradientSigmoidHard);

//===----------------------------------------------------------------------===//
// With parameters for each channel
//===----------------------------------------------------------------------===//

static bool inferPerChannel(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 5)) // C1
    return false;
  for (unsigned slot = 1; slot < ctx.operands.size(); ++slot)
    if (!checkShape(ctx, slot, ctx.type(0).shape[1])) // C2
      return false;
  return inferSame(ctx);
}

/// Result element = fn(element, index of its channel).
template <typename Fn>
static void forEachChannel(EvalContext &ctx, Fn fn) {
  const RefTensor &x = *ctx.in[0];
  AxisView view = viewAxis(x.type.shape, 1);
  for (size_t i = 0; i < x.data.size(); ++i)
    ctx.out[0].data[i] = fn(x.data[i], int64_t(i) / view.inner % view.extent);
}

static void evalPrelu(EvalContext &ctx) {
  const std::vector<double> &alpha = ctx.in[1]->data;
  forEachChannel(ctx,
                 [&](double x, int64_t c) { return leakyRelu(x, alpha[c]); });
}

/// dx = dy, or dy alpha where x < 0; dalpha = sum(dy x) there
static void gradientPrelu(Gradient &g) {
  g.give(0, [&] {
    Value *alpha = g.along(g.in(1), g.rank(0), 1);
    return g.select(g.below(g.in(0), 0), g.mul(g.dy(), alpha), g.dy());
  });
  g.give(1, [&] {
    Value *there = g.where(g.below(g.in(0), 0), g.mul(g.dy(), g.in(0)));
    return g.sumAlong(there, 1);
  });
}

/// relu(x) + alpha min(x, 0)
static Value *decomposePrelu(Builder &builder, const Op &op) {
  Decomposition d(builder, op);
  Value *x = op.operand(0u);
  Value *negative = d.make(ops::Minimum, {x, d.scalar(0, "zero")}, "negative");
  Value *scaled =
      d.make(ops::Mul, {negative, d.perChannel(param::alphaValue)}, "scaled");
  Value *positive = d.make(ops::Relu, {x}, "positive");
  return d.make(ops::Add, {positive, scaled});
}

constinit const OpDef ops::Prelu = {
    .name = "prelu",
    .summary = "`x` where `x` >= 0, and `alpha` * `x` elsewhere, with one "
               "`alpha` per channel.",
    .family = "activation",
    .params = {value(param::x),
               stored(value(param::alphaValue, floats, 'U', "[channels]"))},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5",
                    "`alpha` has an element for each channel (axis 1)"},
    .infer = inferPerChannel,
    .eval = evalPrelu,
    .decomposeComputed = decomposePrelu,
    .gradient = gradientPrelu,
    .positions = {positions::perChannel},
};

static void evalSoftplusParametric(EvalContext &ctx) {
  const std::vector<double> &alpha = ctx.in[1]->data, &beta = ctx.in[2]->data;
  forEachChannel(ctx, [&](double x, int64_t c) {
    return alpha[c] * softplus(beta[c] * x);
  });
}

/// With s = sigmoid(beta x): dx = dy alpha beta s, dalpha = sum(dy
/// softplus(beta x)), dbeta = sum(dy alpha s x)
static void gradientSoftplusParametric(Gradient &g) {
  auto perChannel = [&](unsigned slot) {
    return g.along(g.in(slot), g.rank(0), 1);
  };
  auto scaled = [&] { return g.mul(g.in(0), perChannel(2)); };
  auto inner = [&] {
    return g.mul(g.mul(g.dy(), perChannel(1)), g.sigmoid(scaled()));
  };
  g.give(0, [&] { return g.mul(inner(), perChannel(2)); });
  g.give(1, [&] {
    return g.sumAlong(g.mul(g.dy(), g.make(ops::Softplus, {scaled()})), 1);
  });
  g.give(2, [&] { return g.sumAlong(g.mul(inner(), g.in(0)), 1); });
}

/// alpha softplus(beta x)
static Value *decomposeSoftplusParametric(Builder &builder, const Op &op) {
  Decomposition d(builder, op);
  Value *scaled = d.make(
      ops::Mul, {op.operand(0u), d.perChannel(param::betaValue)}, "scaled");
  Value *soft = d.make(ops::Softplus, {scaled}, "soft");
  return d.make(ops::Mul, {soft, d.perChannel(param::alphaValue)});
}

constinit const OpDef ops::SoftplusParametric = {
    .name = "softplus_parametric",
    .summary = "`alpha` * log(1 + exp(`beta` * `x`)), with one `alpha` and one "
               "`beta` per channel.",
    .family = "activation",
    .params = {value(param::x),
               stored(value(param::alphaValue, floats, 'U', "[channels]")),
               stored(value(param::betaValue, floats, 'U', "[channels]"))},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5",
                    "`alpha` and `beta` have an element for each channel (axis "
                    "1)"},
    .infer = inferPerChannel,
    .eval = evalSoftplusParametric,
    .decomposeComputed = decomposeSoftplusParametric,
    .gradient = gradientSoftplusParametric,
    .positions = {positions::perChannel},
};

//===----------------------------------------------------------------------===//
// gelu
//===----------------------------------------------------------------------===//

static bool inferGelu(InferContext &ctx) {
  return checkMode(ctx, param::geluMode) && // C1
         inferSame(ctx);
}

static double geluExact(double x) {
  return 0.5 * x * (1 + std::erf(x * M_SQRT1_2));
}

/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
static double geluTanh(double x) {
  double inner = M_2_SQRTPI * M_SQRT1_2 * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

static double geluSigmoid(double x) { return x * sigmoid(1.702 * x); }

static void evalGelu(EvalContext &ctx) {
  switch (ctx.get(param::geluMode)) {
  case GeluMode::Exact:
    return forEachUnary(ctx, geluExact);
  case GeluMode::Tanh:
    return forEachUnary(ctx, geluTanh);
  case GeluMode::Sigmoid:
    return forEachUnary(ctx, geluSigmoid);
  }
}

/// Phi(x) + x phi(x), with the distribution Phi and the density phi of the
/// standard normal distribution.
static Value *derivativeGeluExact(Gradient &g) {
  Value *x = g.in(0);
  Value *distribution =
      g.mul(g.add(g.make(ops::Erf, {g.mul(x, M_SQRT1_2)}), 1), 0.5);
  Value *density =
      g.mul(g.exp(g.mul(g.square(x), -0.5)), 0.5 * M_2_SQRTPI * M_SQRT1_2);
  return g.add(distribution, g.mul(x, density));
}

/// With t = tanh(u): (1 + t + x (1 - t^2) u') / 2. x is clipped to [-10, 10],
/// beyond which the derivative is 0 or 1 and x^3 approaches the limit of fp16.
static Value *derivativeGeluTanh(Gradient &g) {
  Value *x = g.make(ops::Clip, {g.in(0)},
                    {{param::alpha, Constant::scalar(g.dtype(), -10)},
                     {param::beta, Constant::scalar(g.dtype(), 10)}});
  Value *square = g.square(x);
  double scale = M_2_SQRTPI * M_SQRT1_2;
  Value *u = g.mul(g.mul(x, g.add(g.mul(square, 0.044715), 1)), scale);
  Value *slope = g.mul(g.add(g.mul(square, 3 * 0.044715), 1), scale);
  Value *t = g.make(ops::Tanh, {u});
  Value *rest = g.mul(g.mul(x, g.from(1, g.square(t))), slope);
  return g.mul(g.add(g.add(t, 1), rest), 0.5);
}

static Value *derivativeGelu(Gradient &g) {
  switch (g.op.get(param::geluMode)) {
  case GeluMode::Exact:
    return derivativeGeluExact(g);
  case GeluMode::Tanh:
    return derivativeGeluTanh(g);
  case GeluMode::Sigmoid:
    return derivativeGated(g, 1.702);
  }
  llvm_unreachable("a mode without a derivative");
}

constinit const OpDef ops::Gelu = {
    .name = "gelu",
    .summary = "`x` times the cumulative normal distribution function of `x`, "
               "computed exactly or by one of two approximations.",
    .family = "activation",
    .params = {value(param::x), mode(param::geluMode, GeluMode::Exact)},
    .traits = trait::Mil | trait::Elementwise,
    .constraints = {oneOf<"`mode` is ", GeluMode>},
    .infer = inferGelu,
    .eval = evalGelu,
    .gradient = gradientUnary<derivativeGelu>,
};
