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

static void evalLeakyRelu(EvalContext &ctx) {
  double alpha = ctx.floatAttr("alpha");
  forEachUnary(ctx, [=](double x) { return x < 0 ? alpha * x : x; });
}

static void evalElu(EvalContext &ctx) {
  double alpha = ctx.floatAttr("alpha");
  forEachUnary(ctx,
               [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

constinit const OpDef ops::LeakyRelu = withAlpha(
    "leaky_relu", "`x`, times `alpha` where it is negative.", evalLeakyRelu);
constinit const OpDef ops::Elu = withAlpha(
    "elu", "`x`, or `alpha` * (exp(`x`) - 1) where it is negative.", evalElu);

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
