//===- Activation.cpp - activation functions --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Infer.h"
#include "anec/Ops/Ops.h"
#include <cmath>

using namespace anec;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double silu(double x) { return x * sigmoid(x); }
static double hyperbolicTangent(double x) { return std::tanh(x); }
static double relu(double x) { return std::fmax(x, 0); }
static double relu6(double x) { return std::fmin(relu(x), 6); }
/// log(1 + e^x), without overflow for large x.
static double softplus(double x) {
  return relu(x) + std::log1p(std::exp(-std::fabs(x)));
}
static double softsign(double x) { return x / (1 + std::fabs(x)); }

static constexpr OpDef activation(llvm::StringLiteral name,
                                  llvm::StringLiteral summary,
                                  void (*eval)(EvalContext &)) {
  return {.name = name,
          .summary = summary,
          .family = "activation",
          .params = {value("x")},
          .traits = trait::Mil | trait::Elementwise,
          .infer = inferSame,
          .eval = eval};
}

constinit const OpDef ops::Sigmoid =
    activation("sigmoid", "1 / (1 + exp(-`x`)).", evalUnary<sigmoid>);
constinit const OpDef ops::Silu =
    activation("silu", "`x` * sigmoid(`x`).", evalUnary<silu>);
constinit const OpDef ops::Tanh = activation(
    "tanh", "The hyperbolic tangent of `x`.", evalUnary<hyperbolicTangent>);
constinit const OpDef ops::Relu =
    activation("relu", "The larger of `x` and 0.", evalUnary<relu>);
constinit const OpDef ops::Relu6 =
    activation("relu6", "Limits `x` to [0, 6].", evalUnary<relu6>);
constinit const OpDef ops::Softplus =
    activation("softplus", "log(1 + exp(`x`)).", evalUnary<softplus>);
constinit const OpDef ops::Softsign =
    activation("softsign", "`x` / (1 + |`x`|).", evalUnary<softsign>);

//===----------------------------------------------------------------------===//
// With parameters
//===----------------------------------------------------------------------===//

static constexpr OpDef withAlpha(llvm::StringLiteral name,
                                 llvm::StringLiteral summary,
                                 void (*eval)(EvalContext &)) {
  OpDef def = activation(name, summary, eval);
  def.params[1] = number("alpha", "", 0);
  return def;
}

static constexpr OpDef withAlphaBeta(llvm::StringLiteral name,
                                     llvm::StringLiteral summary,
                                     void (*eval)(EvalContext &)) {
  OpDef def = withAlpha(name, summary, eval);
  def.params[2] = number("beta", "", 0);
  return def;
}

template <double (*fn)(double x, double alpha)>
static void evalWithAlpha(EvalContext &ctx) {
  double alpha = ctx.floatAttr("alpha");
  forEachUnary(ctx, [=](double x) { return fn(x, alpha); });
}

template <double (*fn)(double x, double alpha, double beta)>
static void evalWithAlphaBeta(EvalContext &ctx) {
  double alpha = ctx.floatAttr("alpha"), beta = ctx.floatAttr("beta");
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
  return std::fmin(leakyRelu(x, alpha), beta);
}
static double linear(double x, double alpha, double beta) {
  return alpha * x + beta;
}
static double scaledTanh(double x, double alpha, double beta) {
  return alpha * std::tanh(beta * x);
}
static double hardSigmoid(double x, double alpha, double beta) {
  return std::fmin(std::fmax(alpha * x + beta, 0), 1);
}

constinit const OpDef ops::LeakyRelu =
    withAlpha("leaky_relu", "`x`, times `alpha` where it is negative.",
              evalWithAlpha<leakyRelu>);
constinit const OpDef ops::Elu =
    withAlpha("elu", "`x`, or `alpha` * (exp(`x`) - 1) where it is negative.",
              evalWithAlpha<elu>);
constinit const OpDef ops::ThresholdedRelu =
    withAlpha("thresholded_relu", "`x`, or 0 where it is below `alpha`.",
              evalWithAlpha<thresholdedRelu>);
constinit const OpDef ops::ClampedRelu = withAlphaBeta(
    "clamped_relu",
    "`x`, times `alpha` where it is negative, but at most `beta`.",
    evalWithAlphaBeta<clampedRelu>);
constinit const OpDef ops::LinearActivation = withAlphaBeta(
    "linear_activation", "`alpha` * `x` + `beta`.", evalWithAlphaBeta<linear>);
constinit const OpDef ops::ScaledTanh =
    withAlphaBeta("scaled_tanh", "`alpha` * tanh(`beta` * `x`).",
                  evalWithAlphaBeta<scaledTanh>);
constinit const OpDef ops::SigmoidHard =
    withAlphaBeta("sigmoid_hard", "Limits `alpha` * `x` + `beta` to [0, 1].",
                  evalWithAlphaBeta<hardSigmoid>);

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

/// Result element = fn(element, its channel).
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

constinit const OpDef ops::Prelu = {
    .name = "prelu",
    .summary = "`x`, times its channel's `alpha` where it is negative.",
    .family = "activation",
    .params = {value("x"), value("alpha", floats, 'U', "[channels]")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5",
                    "`alpha` has an element for each channel (axis 1)"},
    .infer = inferPerChannel,
    .eval = evalPrelu,
};

static void evalSoftplusParametric(EvalContext &ctx) {
  const std::vector<double> &alpha = ctx.in[1]->data, &beta = ctx.in[2]->data;
  forEachChannel(ctx, [&](double x, int64_t c) {
    return alpha[c] * softplus(beta[c] * x);
  });
}

constinit const OpDef ops::SoftplusParametric = {
    .name = "softplus_parametric",
    .summary = "`alpha` * log(1 + exp(`beta` * `x`)), with an alpha and a beta "
               "for each channel.",
    .family = "activation",
    .params = {value("x"), value("alpha", floats, 'U', "[channels]"),
               value("beta", floats, 'U', "[channels]")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5",
                    "`alpha` and `beta` have an element for each channel (axis "
                    "1)"},
    .infer = inferPerChannel,
    .eval = evalSoftplusParametric,
};

//===----------------------------------------------------------------------===//
// gelu
//===----------------------------------------------------------------------===//

static bool inferGelu(InferContext &ctx) {
  return checkChoice(
             ctx, "mode",
             {"EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION"}) && // C1
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
  llvm::StringRef mode = ctx.stringAttr("mode");
  if (mode == "TANH_APPROXIMATION")
    return forEachUnary(ctx, geluTanh);
  if (mode == "SIGMOID_APPROXIMATION")
    return forEachUnary(ctx, geluSigmoid);
  forEachUnary(ctx, geluExact);
}

constinit const OpDef ops::Gelu = {
    .name = "gelu",
    .summary = "`x` times the normal distribution function of `x`, exact or "
               "as one of its two approximations.",
    .family = "activation",
    .params = {value("x"), text("mode", "\"EXACT\"")},
    .traits = trait::Mil | trait::Elementwise,
    .constraints = {"`mode` is EXACT, TANH_APPROXIMATION or "
                    "SIGMOID_APPROXIMATION"},
    .infer = inferGelu,
    .eval = evalGelu,
};
