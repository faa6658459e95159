//===- Elementwise.cpp - functions of each element --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that compute each element of the result from one element.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Elementwise.h"
#include <cmath>

using namespace anec;

static double absolute(double x) { return std::fabs(x); }
static double sign(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }
static double square(double x) { return x * x; }
static double squareRoot(double x) { return std::sqrt(x); }
static double exponential(double x) { return std::exp(x); }
static double exponential2(double x) { return std::exp2(x); }
static double errorFunction(double x) { return std::erf(x); }
static double floorOf(double x) { return std::floor(x); }
static double ceilOf(double x) { return std::ceil(x); }
static double arcCosine(double x) { return std::acos(x); }
static double arcSine(double x) { return std::asin(x); }
static double arcTangent(double x) { return std::atan(x); }
static double areaTangent(double x) { return std::atanh(x); }
static double cosine(double x) { return std::cos(x); }
static double hyperbolicCosine(double x) { return std::cosh(x); }
static double sine(double x) { return std::sin(x); }
static double hyperbolicSine(double x) { return std::sinh(x); }
static double tangent(double x) { return std::tan(x); }
/// Ties go to even: the default rounding mode.
static double roundOf(double x) { return std::nearbyint(x); }

static constexpr OpDef unary(llvm::StringLiteral name,
                             llvm::StringLiteral summary,
                             void (*eval)(EvalContext &),
                             void (*gradient)(Gradient &),
                             DTypeSet dtypes = floats) {
  return {.name = name,
          .summary = summary,
          .family = "elementwise",
          .params = {value(param::x, dtypes)},
          .traits = trait::Mil | trait::Elementwise,
          .infer = inferSame,
          .eval = eval,
          .gradient = gradient};
}

/// An op whose gradient is zero.
static constexpr OpDef steps(llvm::StringLiteral name,
                             llvm::StringLiteral summary,
                             void (*eval)(EvalContext &),
                             DTypeSet dtypes = floats) {
  OpDef def = unary(name, summary, eval, nullptr, dtypes);
  def.traits |= trait::ZeroGradient;
  return def;
}

static Value *derivativeAbs(Gradient &g) {
  return g.make(ops::Sign, {g.in(0)});
}
static Value *derivativeSquare(Gradient &g) { return g.mul(g.in(0), 2); }
static Value *derivativeExp(Gradient &g) { return g.out(); }
static Value *derivativeExp2(Gradient &g) { return g.mul(g.out(), M_LN2); }
static Value *derivativeErf(Gradient &g) {
  return g.mul(g.exp(g.negate(g.square(g.in(0)))), M_2_SQRTPI);
}
static Value *derivativeAsin(Gradient &g) {
  return g.pow(g.from(1, g.square(g.in(0))), -0.5);
}
static Value *derivativeAcos(Gradient &g) {
  return g.negate(derivativeAsin(g));
}
static Value *derivativeCos(Gradient &g) {
  return g.negate(g.make(ops::Sin, {g.in(0)}));
}
static Value *derivativeCosh(Gradient &g) {
  return g.make(ops::Sinh, {g.in(0)});
}
static Value *derivativeSin(Gradient &g) { return g.make(ops::Cos, {g.in(0)}); }
static Value *derivativeSinh(Gradient &g) {
  return g.make(ops::Cosh, {g.in(0)});
}
static Value *derivativeTan(Gradient &g) { return g.add(g.square(g.out()), 1); }

/// dy is divided directly: an inverse as an intermediate value would leave the
/// range of fp16 earlier.
static void gradientSqrt(Gradient &g) {
  g.give(0, [&] { return g.div(g.mul(g.dy(), 0.5), g.out()); });
}
static void gradientAtan(Gradient &g) {
  g.give(0, [&] { return g.div(g.dy(), g.add(g.square(g.in(0)), 1)); });
}
static void gradientAtanh(Gradient &g) {
  g.give(0, [&] { return g.div(g.dy(), g.from(1, g.square(g.in(0)))); });
}
static void gradientIdentity(Gradient &g) {
  g.give(0, [&] { return g.dy(); });
}

constinit const OpDef ops::Abs =
    unary("abs", "The absolute value of `x`.", evalUnary<absolute>,
          gradientUnary<derivativeAbs>, numbers);
constinit const OpDef ops::Sign = steps(
    "sign",
    "1 where `x` is positive, 0 where it is zero, and -1 where it is negative.",
    evalUnary<sign>, numbers);
constinit const OpDef ops::Square =
    unary("square", "`x` times `x`.", evalUnary<square>,
          gradientUnary<derivativeSquare>, numbers);
constinit const OpDef ops::Sqrt = unary("sqrt", "The square root of `x`.",
                                        evalUnary<squareRoot>, gradientSqrt);
constinit const OpDef ops::Exp =
    unary("exp", "e to the power `x`.", evalUnary<exponential>,
          gradientUnary<derivativeExp>);
constinit const OpDef ops::Exp2 =
    unary("exp2", "2 to the power `x`. Integer results truncate toward zero.",
          evalUnary<exponential2>, gradientUnary<derivativeExp2>, numbers);
constinit const OpDef ops::Erf =
    unary("erf", "The Gauss error function of `x`.", evalUnary<errorFunction>,
          gradientUnary<derivativeErf>);
constinit const OpDef ops::Floor =
    steps("floor", "Rounds `x` toward minus infinity.", evalUnary<floorOf>);
constinit const OpDef ops::Ceil =
    steps("ceil", "Rounds `x` toward infinity.", evalUnary<ceilOf>);
constinit const OpDef ops::Round =
    steps("round", "Rounds `x` to the nearest integer, ties to even.",
          evalUnary<roundOf>);

constinit const OpDef ops::Acos =
    unary("acos", "The angle whose cosine is `x`.", evalUnary<arcCosine>,
          gradientUnary<derivativeAcos>);
constinit const OpDef ops::Asin =
    unary("asin", "The angle whose sine is `x`.", evalUnary<arcSine>,
          gradientUnary<derivativeAsin>);
constinit const OpDef ops::Atan =
    unary("atan", "The angle whose tangent is `x`.", evalUnary<arcTangent>,
          gradientAtan);
constinit const OpDef ops::Atanh =
    unary("atanh", "The number whose hyperbolic tangent is `x`.",
          evalUnary<areaTangent>, gradientAtanh);
constinit const OpDef ops::Cos =
    unary("cos", "The cosine of `x`.", evalUnary<cosine>,
          gradientUnary<derivativeCos>);
constinit const OpDef ops::Cosh =
    unary("cosh", "The hyperbolic cosine of `x`.", evalUnary<hyperbolicCosine>,
          gradientUnary<derivativeCosh>);
constinit const OpDef ops::Sin = unary(
    "sin", "The sine of `x`.", evalUnary<sine>, gradientUnary<derivativeSin>);
constinit const OpDef ops::Sinh =
    unary("sinh", "The hyperbolic sine of `x`.", evalUnary<hyperbolicSine>,
          gradientUnary<derivativeSinh>);
constinit const OpDef ops::Tan =
    unary("tan", "The tangent of `x`.", evalUnary<tangent>,
          gradientUnary<derivativeTan>);

//===----------------------------------------------------------------------===//
// Unary with an epsilon that keeps the argument off zero
//===----------------------------------------------------------------------===//

template <double (*fn)(double)>
static void evalShifted(EvalContext &ctx) {
  double epsilon = ctx.get(param::epsilon);
  forEachUnary(ctx, [=](double x) { return fn(x + epsilon); });
}

static double logarithm(double x) { return std::log(x); }
static double reciprocal(double x) { return 1 / x; }
static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

static void gradientLog(Gradient &g) {
  g.give(0, [&] {
    double epsilon = g.op.get(param::epsilon);
    // Omit an epsilon that is 0 in fp16.
    bool vanishes = epsilon < 6e-8;
    return g.div(g.dy(), vanishes ? g.in(0) : g.add(g.in(0), epsilon));
  });
}
static void gradientInverse(Gradient &g) {
  g.give(0, [&] { return g.negate(g.mul(g.mul(g.dy(), g.out()), g.out())); });
}
/// r = x^(-1/2): dx = -dr r^3 / 2
static void gradientRsqrt(Gradient &g) {
  g.give(0, [&] {
    Value *r = g.out();
    return g.mul(g.mul(g.mul(g.mul(g.dy(), r), r), r), -0.5);
  });
}

static constexpr OpDef shifted(llvm::StringLiteral name,
                               llvm::StringLiteral summary,
                               llvm::StringLiteral fallback,
                               void (*eval)(EvalContext &),
                               void (*gradient)(Gradient &)) {
  OpDef def = unary(name, summary, eval, gradient);
  def.params[1] = epsilon(fallback);
  return def;
}

constinit const OpDef ops::Log =
    shifted("log", "The natural logarithm of `x + epsilon`.", "1e-45",
            evalShifted<logarithm>, gradientLog);
constinit const OpDef ops::Inverse =
    shifted("inverse", "1 / (`x + epsilon`).", "1e-04", evalShifted<reciprocal>,
            gradientInverse);
constinit const OpDef ops::Rsqrt =
    shifted("rsqrt", "1 / sqrt(`x + epsilon`).", "1e-12",
            evalShifted<reciprocalRoot>, gradientRsqrt);

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static void evalClip(EvalContext &ctx) {
  double low = ctx.get(param::alpha), high = ctx.get(param::beta);
  forEachUnary(ctx, [=](double x) { return smaller(larger(x, low), high); });
}

static Value *isWithin(Gradient &g) {
  return g.both(g.above(g.in(0), g.op.get(param::alpha)),
                g.below(g.in(0), g.op.get(param::beta)));
}

constinit const OpDef ops::Clip = {
    .name = "clip",
    .summary = "Limits `x` to [`alpha`, `beta`].",
    .family = "elementwise",
    .params = {value(param::x), number(param::alpha), number(param::beta)},
    .traits = trait::Mil | trait::Elementwise,
    .infer = inferSame,
    .eval = evalClip,
    .gradient = gradientWhere<isWithin>,
};

static void evalThreshold(EvalContext &ctx) {
  double alpha = ctx.get(param::alpha);
  forEachUnary(ctx, [=](double x) { return larger(x, alpha); });
}

static Value *isAbove(Gradient &g) {
  return g.above(g.in(0), g.op.get(param::alpha));
}

constinit const OpDef ops::Threshold = {
    .name = "threshold",
    .summary = "The larger of `x` and `alpha`.",
    .family = "elementwise",
    .params = {value(param::x, numbers),
               number(param::alpha, "", 'T', numbers)},
    .traits = trait::Mil | trait::Elementwise,
    .infer = inferSame,
    .eval = evalThreshold,
    .gradient = gradientWhere<isAbove>,
};

static constexpr OpDef identityRow() {
  OpDef def = unary("identity", "Returns `x` unchanged.", evalCopy,
                    gradientIdentity, movableTypes);
  def.traits |= trait::Renames;
  return def;
}
constinit const OpDef ops::Identity = identityRow();

static void decomposeStopGradient(Builder &, const Op &op,
                                  llvm::SmallVectorImpl<Value *> &results) {
  results.push_back(op.operand(0u));
}

constinit const OpDef ops::StopGradient = {
    .name = "stop_gradient",
    .summary = "Returns `x` unchanged; no gradient passes through it. "
               "`differentiate` removes the op.",
    .family = "elementwise",
    .params = {value(param::x, movableTypes)},
    .traits = trait::Elementwise | trait::ZeroGradient,
    .infer = inferSame,
    .eval = evalCopy,
    .decompose = decomposeStopGradient,
};
