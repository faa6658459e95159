//===- Functions.cpp - functions of one element ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

/// The operand in the type of the result: integers become fp32 where the
/// result is a float.
static Val operand(Node &n) { return n.cast(n.item("self"), n.outType()); }

template <const OpDef &Def>
static void unary(Node &n) {
  n.out(n.e.unary(Def, operand(n)));
}

/// Integers stay what they are.
template <const OpDef &Def>
static void rounded(Node &n) {
  Item x = n.item("self");
  n.out(isFloating(x.type) ? n.e.unary(Def, x.val) : n.e.native(x.val));
}

static void log(Node &n) { n.out(n.e.log(operand(n))); }
static void log2(Node &n) {
  n.out(n.e.mul(n.e.log(operand(n)), 1 / std::log(2.0)));
}
static void log10(Node &n) {
  n.out(n.e.mul(n.e.log(operand(n)), 1 / std::log(10.0)));
}

static void log1p(Node &n) { n.out(n.e.logOf1Plus(operand(n))); }

/// exp(x) - 1 = tanh(x / 2) (exp(x) + 1), which is exact near 0.
static void expm1(Node &n) {
  Emitter &e = n.e;
  Val x = operand(n);
  Val half = e.unary(ops::Tanh, e.mul(x, 0.5));
  Val sum = e.add(e.unary(ops::Exp, x), 1);
  // Where exp(x) is infinite, so is the result.
  n.out(e.mul(half, sum));
}

static void exp2(Node &n) { n.out(n.e.unary(ops::Exp2, operand(n))); }

/// A function of integers that leaves the range of small ones, which PyTorch
/// takes modulo it.
static Val ofIntegers(Node &n, Item x, llvm::function_ref<Val(Val)> function) {
  Val wide = n.cast(x.val, x.type, ScalarType::Int32);
  return n.cast(function(wide), ScalarType::Int32, x.type);
}

static void negate(Node &n) {
  Item x = n.item("self");
  auto negative = [&](Val value) { return n.e.mul(value, -1); };
  n.out(isIntegral(x.type) ? ofIntegers(n, x, negative) : negative(x.val));
}

static void reciprocal(Node &n) {
  Val x = operand(n);
  n.out(n.e.div(n.e.scalar(x.dtype(), 1), x));
}

static void inverseRoot(Node &n) {
  Val x = operand(n), root = n.e.unary(ops::Sqrt, x);
  n.out(n.e.div(n.e.scalar(x.dtype(), 1), root));
}

static void square(Node &n) {
  Item x = n.item("self");
  n.out(n.cast(n.e.mul(x.val, x.val), x.type, n.outType()));
}

static void truncate(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  if (!isFloating(x.type))
    return n.out(e.native(x.val));
  Val size = e.unary(ops::Floor, e.unary(ops::Abs, x.val));
  n.out(e.mul(e.unary(ops::Sign, x.val), size));
}

static void fraction(Node &n) {
  Emitter &e = n.e;
  Val x = operand(n);
  Val size = e.unary(ops::Floor, e.unary(ops::Abs, x));
  n.out(e.sub(x, e.mul(e.unary(ops::Sign, x), size)));
}

static void round(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  if (!isFloating(x.type))
    return n.out(e.native(x.val));
  if (n.has("decimals") && n.integer("decimals") != 0) {
    double scale = std::pow(10.0, double(n.integer("decimals")));
    Val scaled = e.unary(ops::Round, e.mul(x.val, scale));
    return n.out(e.div(scaled, n.number(x.type, scale)));
  }
  n.out(e.unary(ops::Round, x.val));
}

/// The size of a complex number, or of a real one.
static void absolute(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  auto size = [&](Val value) { return e.unary(ops::Abs, value); };
  if (!isComplex(x.type))
    return n.out(isIntegral(x.type) ? ofIntegers(n, x, size) : size(x.val));
  Val squares = e.mul(x.val, x.val);
  n.out(e.unary(ops::Sqrt,
                e.reduce(ops::ReduceSum, squares, {x.val.rank() - 1}, false)));
}

/// 1 - erf(x), and from 1/2 on, where that cancels out, t exp(p(t) - x^2) with
/// t = 1 / (1 + x / 2). The polynomial is fitted to erfc of the C library, and
/// within 4e-8 of it up to 9.
static void erfc(Node &n) {
  static constexpr double coefficients[] = {
      -0.0631028511, 0.0179897824, 0.494295119, -0.857844616, 0.33027554,
      -0.0556408676, 0.402129107,  0.997121718, -1.2653841};
  Emitter &e = n.e;
  Val x = operand(n), one = e.scalar(x.dtype(), 1);
  Val near = e.sub(one, e.unary(ops::Erf, x));
  Val t = e.div(one, e.add(e.mul(x, 0.5), 1)), sum = e.scalar(x.dtype(), 0);
  for (double coefficient : coefficients)
    sum = e.add(e.mul(t, sum), coefficient);
  Val far = e.mul(t, e.unary(ops::Exp, e.sub(sum, e.mul(x, x))));
  Val isFar = e.make(ops::Greater, {x, e.scalar(x.dtype(), 0.5)});
  n.out(e.select(isFar, far, near));
}

static void hyperbolicOf(Node &n, llvm::StringLiteral op) {
  n.out(OnnxNode(n, op).in(operand(n)).run());
}
static void asinh(Node &n) { hyperbolicOf(n, "Asinh"); }
static void acosh(Node &n) { hyperbolicOf(n, "Acosh"); }

/// Replaces NaN and infinities by numbers.
static void replaceNaN(Node &n) {
  Emitter &e = n.e;
  Val x = operand(n);
  DType dtype = x.dtype();
  double most = dtype == DType::FP16 ? 65504 : 3.4028234663852886e38;
  auto value = [&](StringRef name, double fallback) {
    return e.scalar(dtype, n.has(name) ? n.number(name) : fallback);
  };
  Val isNaN = e.make(ops::NotEqual, {x, x});
  Val result = e.select(isNaN, value("nan", 0), x);
  Val above = e.make(ops::Equal, {result, e.scalar(dtype, INFINITY)});
  result = e.select(above, value("posinf", most), result);
  Val below = e.make(ops::Equal, {result, e.scalar(dtype, -INFINITY)});
  n.out(e.select(below, value("neginf", -most), result));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow functionTable[] = {
    {"aten.abs.default", absolute, "", true},
    {"aten.acos.default", unary<ops::Acos>},
    {"aten.acosh.default", acosh},
    {"aten.asin.default", unary<ops::Asin>},
    {"aten.asinh.default", asinh},
    {"aten.atan.default", unary<ops::Atan>},
    {"aten.atanh.default", unary<ops::Atanh>},
    {"aten.ceil.default", rounded<ops::Ceil>},
    {"aten.cos.default", unary<ops::Cos>},
    {"aten.cosh.default", unary<ops::Cosh>},
    {"aten.erf.default", unary<ops::Erf>},
    {"aten.erfc.default", erfc},
    {"aten.exp.default", unary<ops::Exp>},
    {"aten.exp2.default", exp2},
    {"aten.expm1.default", expm1},
    {"aten.floor.default", rounded<ops::Floor>},
    {"aten.frac.default", fraction},
    {"aten.log.default", log},
    {"aten.log10.default", log10},
    {"aten.log1p.default", log1p},
    {"aten.log2.default", log2},
    {"aten.nan_to_num.default", replaceNaN},
    {"aten.neg.default", negate},
    {"aten.reciprocal.default", reciprocal},
    {"aten.round.decimals", round},
    {"aten.round.default", round},
    {"aten.rsqrt.default", inverseRoot},
    {"aten.sgn.default", unary<ops::Sign>},
    {"aten.sign.default", unary<ops::Sign>},
    {"aten.sin.default", unary<ops::Sin>},
    {"aten.sinh.default", unary<ops::Sinh>},
    {"aten.sqrt.default", unary<ops::Sqrt>},
    {"aten.square.default", square},
    {"aten.tan.default", unary<ops::Tan>},
    {"aten.trunc.default", truncate},
};

llvm::ArrayRef<OpRow> torch::functionRows() { return functionTable; }
