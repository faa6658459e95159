//===- Activations.cpp - activations and roots for a target ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Gelu.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>
#include <numbers>

using namespace anec;
using namespace anec::legalize;

/// silu(x) ==> x * sigmoid(x)
Value *legalize::expandSilu(Rewriter &r) {
  return r.make(ops::Mul, {r.x(), r.make(ops::Sigmoid, {r.x()}, "gate")});
}

/// 0.5 x (1 + f), for two of the forms of gelu.
static Value *halfTimesOnePlus(Rewriter &r, Value *f) {
  Value *factor = r.make(ops::Add, {f, r.scalar(1, "one")}, "factor");
  Value *half = r.make(ops::Mul, {r.x(), r.scalar(0.5, "half")}, "scaled");
  return r.make(ops::Mul, {half, factor});
}

/// gelu(x) ==> 0.5 x (1 + erf(x / sqrt(2)))
///         or  0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
///         or  x * sigmoid(1.702 x)
Value *legalize::expandGelu(Rewriter &r) {
  GeluMode mode = r.op.get(param::geluMode);
  if (mode == GeluMode::Sigmoid) {
    Value *scaled = r.make(ops::Mul, {r.x(), r.scalar(1.702, "scale")}, "in");
    return r.make(ops::Mul, {r.x(), r.make(ops::Sigmoid, {scaled}, "gate")});
  }
  if (mode == GeluMode::Exact) {
    Value *scaled = r.make(
        ops::Mul, {r.x(), r.scalar(std::numbers::sqrt2 / 2, "scale")}, "in");
    return halfTimesOnePlus(r, r.make(ops::Erf, {scaled}, "erf"));
  }
  Value *square = r.make(ops::Mul, {r.x(), r.x()}, "square");
  Value *cube = r.make(ops::Mul, {square, r.x()}, "cube");
  Value *small = r.make(ops::Mul, {cube, r.scalar(0.044715, "cubic")}, "small");
  Value *sum = r.make(ops::Add, {r.x(), small}, "sum");
  Value *in = r.make(
      ops::Mul, {sum, r.scalar(std::sqrt(2 / std::numbers::pi), "root")}, "in");
  return halfTimesOnePlus(r, r.make(ops::Tanh, {in}, "tanh"));
}

/// softplus(x) ==> max(x, 0) + log(1 + exp(-|x|))
Value *legalize::expandSoftplus(Rewriter &r) {
  if (!r.op.is(ops::Softplus))
    return nullptr;
  Value *positive = r.make(ops::Relu, {r.x()}, "positive");
  Value *magnitude = r.make(ops::Abs, {r.x()}, "magnitude");
  Value *negative =
      r.make(ops::Mul, {magnitude, r.scalar(-1, "minus_one")}, "negative");
  Value *tail = r.make(ops::Exp, {negative}, "tail");
  Value *sum = r.make(ops::Add, {tail, r.scalar(1, "one")}, "sum");
  // The sum is at least 1, so no epsilon is needed.
  Value *log = r.make(
      ops::Log, {sum},
      Attr(param::epsilon, Constant::scalar(r.op.result()->type.dtype, 0)),
      "log");
  return r.make(ops::Add, {positive, log});
}

/// rsqrt(x) ==> pow(x + epsilon, -0.5);  sqrt(x) ==> pow(x, 0.5)
Value *legalize::rootToPow(Rewriter &r) {
  Value *base = r.x();
  if (r.op.is(ops::Rsqrt)) {
    double epsilon = r.op.get(param::epsilon);
    if (epsilon != 0)
      base = r.make(ops::Add, {base, r.scalar(epsilon, "epsilon")}, "base");
    return r.make(ops::Pow, {base, r.scalar(-0.5, "minus_half")});
  }
  return r.make(ops::Pow, {base, r.scalar(0.5, "half")});
}

/// inverse(x) ==> 1 / (x + epsilon)
Value *legalize::inverseToDiv(Rewriter &r) {
  if (!r.op.is(ops::Inverse))
    return nullptr;
  Value *base = r.x();
  if (double epsilon = r.op.get(param::epsilon); epsilon != 0)
    base = r.make(ops::Add, {base, r.scalar(epsilon, "epsilon")}, "base");
  return r.make(ops::RealDiv, {r.scalar(1, "one"), base});
}

/// square(x) ==> x * x
Value *legalize::squareToMul(Rewriter &r) {
  return r.make(ops::Mul, {r.x(), r.x()});
}

/// softmax(x) of axis 1 ==> transpose(softmax(transpose(x)) of axis 3)
Value *legalize::softmaxOfWidth(Rewriter &r) {
  const Shape exchange = {0, 3, 2, 1};
  Value *wide = r.make(ops::Transpose, {r.x()}, {{param::perm, exchange}},
                       "channels_last");
  Value *shares =
      r.make(ops::Softmax, {wide}, {{param::axis, int64_t(3)}}, "shares");
  return r.make(ops::Transpose, {shares}, {{param::perm, exchange}});
}
