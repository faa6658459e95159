//===- Arithmetic.cpp - ops of two operands per element ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that compute each element of the result from the elements of two
/// operands at the same place, after broadcasting.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Arithmetic.h"
#include "Elementwise.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;

static double add(double x, double y) { return x + y; }
static double sub(double x, double y) { return x - y; }
static double mul(double x, double y) { return x * y; }
static double realDiv(double x, double y) { return x / y; }
static double floorDiv(double x, double y) { return std::floor(x / y); }
static double power(double x, double y) { return std::pow(x, y); }

/// The remainder with the sign of the divisor.
static double modulo(double x, double y) {
  double remainder = std::fmod(x, y);
  return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y
                                                      : remainder;
}

static constexpr OpDef binary(llvm::StringLiteral name,
                              llvm::StringLiteral summary,
                              void (*eval)(EvalContext &),
                              void (*gradient)(Gradient &),
                              uint32_t traits = 0) {
  return {.name = name,
          .summary = summary,
          .family = "elementwise",
          .params = {value(param::x, numbers), value(param::y, numbers)},
          .traits = trait::Mil | trait::Elementwise | traits,
          .constraints = {"`x` and `y` have shapes that broadcast"},
          .infer = inferBroadcast,
          .eval = eval,
          .gradient = gradient};
}

static void gradientAdd(Gradient &g) {
  g.give(0, [&] { return g.dy(); });
  g.give(1, [&] { return g.dy(); });
}

static void gradientSub(Gradient &g) {
  g.give(0, [&] { return g.dy(); });
  g.give(1, [&] { return g.negate(g.dy()); });
}

static void gradientMul(Gradient &g) {
  g.give(0, [&] { return g.mul(g.dy(), g.in(1)); });
  g.give(1, [&] { return g.mul(g.dy(), g.in(0)); });
}

/// q = x / y: dx = dq / y, dy = -dq q / y
static void gradientDiv(Gradient &g) {
  g.give(0, [&] { return g.div(g.dy(), g.in(1)); });
  g.give(1, [&] { return g.negate(g.mul(g.div(g.dy(), g.in(1)), g.out())); });
}

/// x mod y = x - y floor(x / y)
static void gradientMod(Gradient &g) {
  g.give(0, [&] { return g.dy(); });
  g.give(1, [&] {
    Value *times = g.make(ops::FloorDiv, {g.in(0), g.in(1)});
    return g.negate(g.mul(g.dy(), times));
  });
}

/// p = x^y: dx = dp y x^(y - 1), dy = dp p log(x), or 0 where log(x) is
/// undefined.
static void gradientPow(Gradient &g) {
  g.give(0, [&] {
    Value *less = g.make(ops::Pow, {g.in(0), g.add(g.in(1), -1)});
    return g.mul(g.mul(g.dy(), g.in(1)), less);
  });
  g.give(1, [&] {
    Value *log = g.make(ops::Log, {g.in(0)},
                        Attr(param::epsilon, Constant::scalar(g.dtype(), 0)));
    return g.where(g.above(g.in(0), 0), g.mul(g.mul(g.dy(), g.out()), log));
  });
}

/// For maximum and minimum. Where x and y are equal, x gets the gradient.
template <const OpDef &keeps, const OpDef &yields>
static void gradientChoice(Gradient &g) {
  g.give(0, [&] { return g.where(g.make(keeps, {g.in(0), g.in(1)}), g.dy()); });
  g.give(1, [&] {
    return g.where(g.make(yields, {g.in(0), g.in(1)}), g.dy());
  });
}

constinit const OpDef ops::Add =
    binary("add", "Adds `x` and `y`.", evalBinary<add>, gradientAdd,
           trait::Commutative);
constinit const OpDef ops::Sub =
    binary("sub", "Subtracts `y` from `x`.", evalBinary<sub>, gradientSub);
constinit const OpDef ops::Mul =
    binary("mul", "Multiplies `x` and `y`.", evalBinary<mul>, gradientMul,
           trait::Commutative);
constinit const OpDef ops::RealDiv = binary(
    "real_div", "Divides `x` by `y`. Integer results truncate toward zero.",
    evalBinary<realDiv>, gradientDiv);
constinit const OpDef ops::FloorDiv =
    binary("floor_div", "Divides `x` by `y` and rounds toward minus infinity.",
           evalBinary<floorDiv>, nullptr, trait::ZeroGradient);
constinit const OpDef ops::Mod =
    binary("mod", "The remainder of `x` by `y`, with the sign of `y`.",
           evalBinary<modulo>, gradientMod);
constinit const OpDef ops::Pow = binary("pow", "Raises `x` to the power `y`.",
                                        evalBinary<power>, gradientPow);
constinit const OpDef ops::Maximum =
    binary("maximum", "The larger of `x` and `y`; NaN if one is NaN.",
           evalBinary<larger>, gradientChoice<ops::GreaterEqual, ops::Less>,
           trait::Commutative);
constinit const OpDef ops::Minimum =
    binary("minimum", "The smaller of `x` and `y`; NaN if one is NaN.",
           evalBinary<smaller>, gradientChoice<ops::LessEqual, ops::Greater>,
           trait::Commutative);
