//===- Elementwise.cpp - arithmetic per element -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that compute each element of the result from the elements of the
/// operands at the same place, after broadcasting.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Infer.h"
#include "anec/Ops/Ops.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static double add(double x, double y) { return x + y; }
static double sub(double x, double y) { return x - y; }
static double mul(double x, double y) { return x * y; }
static double realDiv(double x, double y) { return x / y; }
static double floorDiv(double x, double y) { return std::floor(x / y); }
static double power(double x, double y) { return std::pow(x, y); }
static double maximum(double x, double y) { return std::fmax(x, y); }
static double minimum(double x, double y) { return std::fmin(x, y); }

/// The remainder with the sign of the divisor.
static double modulo(double x, double y) {
  double remainder = std::fmod(x, y);
  return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y
                                                      : remainder;
}

static constexpr OpDef binary(llvm::StringLiteral name,
                              llvm::StringLiteral summary,
                              void (*eval)(EvalContext &),
                              uint32_t traits = 0) {
  return {.name = name,
          .summary = summary,
          .family = "elementwise",
          .params = {value("x", numbers), value("y", numbers)},
          .traits = trait::Mil | trait::Elementwise | traits,
          .constraints = {"`x` and `y` broadcast"},
          .infer = inferBroadcast,
          .eval = eval};
}

constinit const OpDef ops::Add =
    binary("add", "Adds `x` and `y`.", evalBinary<add>, trait::Commutative);
constinit const OpDef ops::Sub =
    binary("sub", "Subtracts `y` from `x`.", evalBinary<sub>);
constinit const OpDef ops::Mul = binary("mul", "Multiplies `x` and `y`.",
                                        evalBinary<mul>, trait::Commutative);
constinit const OpDef ops::RealDiv =
    binary("real_div", "Divides `x` by `y`; integers truncate toward zero.",
           evalBinary<realDiv>);
constinit const OpDef ops::FloorDiv =
    binary("floor_div", "Divides `x` by `y` and rounds toward minus infinity.",
           evalBinary<floorDiv>);
constinit const OpDef ops::Mod =
    binary("mod", "The remainder of `x` by `y`, with the sign of `y`.",
           evalBinary<modulo>);
constinit const OpDef ops::Pow =
    binary("pow", "Raises `x` to the power `y`.", evalBinary<power>);
constinit const OpDef ops::Maximum =
    binary("maximum", "The larger of `x` and `y`.", evalBinary<maximum>,
           trait::Commutative);
constinit const OpDef ops::Minimum =
    binary("minimum", "The smaller of `x` and `y`.", evalBinary<minimum>,
           trait::Commutative);

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static double absolute(double x) { return std::fabs(x); }
static double sign(double x) { return (x > 0) - (x < 0); }
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
                             DTypeSet dtypes = floats) {
  return {.name = name,
          .summary = summary,
          .family = "elementwise",
          .params = {value("x", dtypes)},
          .traits = trait::Mil | trait::Elementwise,
          .infer = inferSame,
          .eval = eval};
}

constinit const OpDef ops::Abs =
    unary("abs", "The magnitude of `x`.", evalUnary<absolute>, numbers);
constinit const OpDef ops::Sign =
    unary("sign", "1, 0 or -1 as `x` is positive, zero or negative.",
          evalUnary<sign>, numbers);
constinit const OpDef ops::Square =
    unary("square", "`x` times `x`.", evalUnary<square>, numbers);
constinit const OpDef ops::Sqrt =
    unary("sqrt", "The square root of `x`.", evalUnary<squareRoot>);
constinit const OpDef ops::Exp =
    unary("exp", "e to the power `x`.", evalUnary<exponential>);
constinit const OpDef ops::Exp2 =
    unary("exp2", "2 to the power `x`; integers truncate toward zero.",
          evalUnary<exponential2>, numbers);
constinit const OpDef ops::Erf =
    unary("erf", "The Gauss error function of `x`.", evalUnary<errorFunction>);
constinit const OpDef ops::Floor =
    unary("floor", "Rounds `x` toward minus infinity.", evalUnary<floorOf>);
constinit const OpDef ops::Ceil =
    unary("ceil", "Rounds `x` toward infinity.", evalUnary<ceilOf>);
constinit const OpDef ops::Round =
    unary("round", "Rounds `x` to the nearest integer, ties to even.",
          evalUnary<roundOf>);

constinit const OpDef ops::Acos =
    unary("acos", "The angle whose cosine is `x`.", evalUnary<arcCosine>);
constinit const OpDef ops::Asin =
    unary("asin", "The angle whose sine is `x`.", evalUnary<arcSine>);
constinit const OpDef ops::Atan =
    unary("atan", "The angle whose tangent is `x`.", evalUnary<arcTangent>);
constinit const OpDef ops::Atanh =
    unary("atanh", "The number whose hyperbolic tangent is `x`.",
          evalUnary<areaTangent>);
constinit const OpDef ops::Cos =
    unary("cos", "The cosine of `x`.", evalUnary<cosine>);
constinit const OpDef ops::Cosh =
    unary("cosh", "The hyperbolic cosine of `x`.", evalUnary<hyperbolicCosine>);
constinit const OpDef ops::Sin =
    unary("sin", "The sine of `x`.", evalUnary<sine>);
constinit const OpDef ops::Sinh =
    unary("sinh", "The hyperbolic sine of `x`.", evalUnary<hyperbolicSine>);
constinit const OpDef ops::Tan =
    unary("tan", "The tangent of `x`.", evalUnary<tangent>);

//===----------------------------------------------------------------------===//
// Unary with an epsilon that keeps the argument off zero
//===----------------------------------------------------------------------===//

template <double (*fn)(double)>
static void evalShifted(EvalContext &ctx) {
  double epsilon = ctx.floatAttr("epsilon");
  forEachUnary(ctx, [=](double x) { return fn(x + epsilon); });
}

static double logarithm(double x) { return std::log(x); }
static double reciprocal(double x) { return 1 / x; }
static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

static constexpr OpDef shifted(llvm::StringLiteral name,
                               llvm::StringLiteral summary,
                               llvm::StringLiteral epsilon,
                               void (*eval)(EvalContext &)) {
  OpDef def = unary(name, summary, eval);
  def.params[1] = number("epsilon", epsilon, 0);
  return def;
}

constinit const OpDef ops::Log =
    shifted("log", "The natural logarithm of `x + epsilon`.", "1e-45",
            evalShifted<logarithm>);
constinit const OpDef ops::Inverse = shifted("inverse", "1 / (`x + epsilon`).",
                                             "1e-04", evalShifted<reciprocal>);
constinit const OpDef ops::Rsqrt = shifted(
    "rsqrt", "1 / sqrt(`x + epsilon`).", "1e-12", evalShifted<reciprocalRoot>);

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static void evalClip(EvalContext &ctx) {
  double low = ctx.floatAttr("alpha"), high = ctx.floatAttr("beta");
  forEachUnary(ctx,
               [=](double x) { return std::fmin(std::fmax(x, low), high); });
}

constinit const OpDef ops::Clip = {
    .name = "clip",
    .summary = "Limits `x` to [`alpha`, `beta`].",
    .family = "elementwise",
    .params = {value("x"), number("alpha"), number("beta")},
    .traits = trait::Mil | trait::Elementwise,
    .infer = inferSame,
    .eval = evalClip,
};

static void evalThreshold(EvalContext &ctx) {
  double alpha = ctx.floatAttr("alpha");
  forEachUnary(ctx, [=](double x) { return std::fmax(x, alpha); });
}

constinit const OpDef ops::Threshold = {
    .name = "threshold",
    .summary = "The larger of `x` and `alpha`.",
    .family = "elementwise",
    .params = {value("x", numbers), number("alpha", "", 'T', numbers)},
    .traits = trait::Mil | trait::Elementwise,
    .infer = inferSame,
    .eval = evalThreshold,
};

constinit const OpDef ops::Identity =
    unary("identity", "`x` as it is.", evalCopy, movableTypes);
