//===- Activations.cpp - activation functions -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Gelu.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

static Attr numberAttr(const FloatParam &param, Val x, double value) {
  return {param, Constant::scalar(Emitter::wideOf(x), value)};
}

//===----------------------------------------------------------------------===//
// Functions of one element
//===----------------------------------------------------------------------===//

static void readRelu(Node &n) {
  Val x = n.in(0);
  if (Emitter::wideOf(x) == DType::Int32)
    return n.out(n.e.binary(ops::Maximum, x, n.e.scalar(DType::Int32, 0)));
  n.out(n.e.unary(ops::Relu, x));
}

static void readSigmoid(Node &n) { n.out(n.e.unary(ops::Sigmoid, n.in(0))); }
static void readTanh(Node &n) { n.out(n.e.unary(ops::Tanh, n.in(0))); }
static void readSoftplus(Node &n) { n.out(n.e.unary(ops::Softplus, n.in(0))); }
static void readSoftsign(Node &n) { n.out(n.e.unary(ops::Softsign, n.in(0))); }

static void readLeakyRelu(Node &n) {
  Val x = n.in(0);
  n.out(n.e.unary(ops::LeakyRelu, x,
                  {numberAttr(param::alpha, x, n.attrNumber("alpha", 0.01f))}));
}

static void readElu(Node &n) {
  Val x = n.in(0);
  n.out(n.e.unary(ops::Elu, x,
                  {numberAttr(param::alpha, x, n.attrNumber("alpha", 1))}));
}

/// alpha * (exp(x / alpha) - 1) where x < 0.
static void readCelu(Node &n) {
  Val x = n.in(0);
  double alpha = n.attrNumber("alpha", 1);
  if (alpha == 0)
    return n.fail("`alpha` of `Celu` must not be 0");
  Val scaled = n.e.mul(x, 1 / alpha);
  Val low = n.e.unary(ops::Elu, scaled, {numberAttr(param::alpha, x, alpha)});
  n.out(n.e.select(n.e.make(ops::Less, {x, n.e.scalar(x.dtype(), 0)}), low, x));
}

static void readSelu(Node &n) {
  Val x = n.in(0);
  double alpha = n.attrNumber("alpha", 1.67326319217681884765625);
  double gamma = n.attrNumber("gamma", 1.05070102214813232421875);
  n.out(n.e.mul(n.e.unary(ops::Elu, x, {numberAttr(param::alpha, x, alpha)}),
                gamma));
}

static Val hardSigmoid(Node &n, Val x, double alpha, double beta) {
  return n.e.unary(
      ops::SigmoidHard, x,
      {numberAttr(param::alpha, x, alpha), numberAttr(param::beta, x, beta)});
}

static void readHardSigmoid(Node &n) {
  n.out(hardSigmoid(n, n.in(0), n.attrNumber("alpha", 0.2f),
                    n.attrNumber("beta", 0.5)));
}

static void readHardSwish(Node &n) {
  Val x = n.in(0);
  n.out(n.e.mul(x, hardSigmoid(n, x, 1.0 / 6, 0.5)));
}

/// x * tanh(log(1 + exp(x)))
static void readMish(Node &n) {
  Val x = n.in(0);
  n.out(n.e.mul(x, n.e.unary(ops::Tanh, n.e.unary(ops::Softplus, x))));
}

static void readGelu(Node &n) {
  StringRef mode = n.attrText("approximate", "none");
  if (mode != "none" && mode != "tanh")
    return n.fail("`approximate` of `Gelu` must be `none` or `tanh`");
  n.out(n.e.unary(
      ops::Gelu, n.in(0),
      {{param::geluMode, mode == "tanh" ? GeluMode::Tanh : GeluMode::Exact}}));
}

/// x * sigmoid(alpha * x).
static Val swish(Node &n, Val x) {
  double alpha = n.attrNumber("alpha", 1);
  if (alpha == 1)
    return n.e.unary(ops::Silu, x);
  return n.e.mul(x, n.e.unary(ops::Sigmoid, n.e.mul(x, alpha)));
}

static void readSwish(Node &n) { n.out(swish(n, n.in(0))); }

static void readSwiGlu(Node &n) {
  Val x = n.in(0), y = n.in(1);
  if (!n.failed() && x.shape() != y.shape())
    return n.fail("the inputs must have the same shape");
  n.out(n.e.mul(swish(n, x), y));
}

/// x where x > alpha, 0 elsewhere.
static void readThresholdedRelu(Node &n) {
  Val x = n.in(0);
  Val alpha = n.e.scalar(x.dtype(), n.attrNumber("alpha", 1));
  Val above = n.e.make(ops::Greater, {x, alpha});
  n.out(n.e.select(above, x, n.e.scalar(x.dtype(), 0)));
}

static void readShrink(Node &n) {
  Val x = n.in(0);
  DType wide = Emitter::wideOf(x);
  double lambda = n.attrNumber("lambd", 0.5), bias = n.attrNumber("bias", 0);
  Val wideX = n.e.cast(x, wide);
  auto compare = [&](const OpDef &def, double limit) {
    // Integers are compared with the limit rounded toward them.
    if (wide == DType::Int32)
      limit = limit < 0 ? std::ceil(limit) : std::floor(limit);
    return n.e.make(def, {wideX, n.e.scalar(wide, limit)});
  };
  Val isLow = compare(ops::Less, -lambda), raised = n.e.add(wideX, bias);
  Val low = n.e.select(isLow, raised, n.e.scalar(wide, 0));
  Val isHigh = compare(ops::Greater, lambda);
  Val result = n.e.select(isHigh, n.e.add(wideX, -bias), low);
  n.out(n.e.cast(result, x.dtype()));
}

//===----------------------------------------------------------------------===//
// Slopes
//===----------------------------------------------------------------------===//

/// slope * x where x < 0. Before version 7, a list of slopes is per channel.
static void readPRelu(Node &n) {
  Val x = n.in(0), slope = n.in(1);
  if (n.opset() < 7 && slope.rank() == 1 && x.rank() > 2) {
    Shape shape(size_t(x.rank() - 1), 1);
    shape.front() = slope.size();
    slope = n.e.reshape(slope, shape);
  }
  bool perChannel =
      slope.isKnown() && x.rank() >= 3 && x.rank() <= 5 &&
      slope.rank() <= x.rank() && slope.dim(1 - x.rank()) == slope.size() &&
      slope.size() == x.dim(1) && x.dtype() == slope.dtype() &&
      Emitter::wideOf(x) == x.dtype() && x.dtype() != DType::Int32;
  if (perChannel)
    return n.out(n.e.make(ops::Prelu, {x, n.e.reshape(slope, {slope.size()})}));
  Val wide = n.e.cast(x, Emitter::wideOf(x));
  Val negative = n.e.make(ops::Less, {wide, n.e.scalar(wide.dtype(), 0)});
  n.out(n.e.cast(n.e.select(negative, n.e.mul(slope, wide), wide), x.dtype()));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow activationTable[] = {
    {.name = "Celu", .read = readCelu, .since = 12},
    {.name = "Elu", .read = readElu},
    {.name = "Gelu", .read = readGelu, .since = 20},
    {.name = "HardSigmoid", .read = readHardSigmoid},
    {.name = "HardSwish", .read = readHardSwish, .since = 14},
    {.name = "LeakyRelu", .read = readLeakyRelu},
    {.name = "Mish", .read = readMish, .since = 18},
    {.name = "PRelu", .read = readPRelu},
    {.name = "Relu", .read = readRelu},
    {.name = "Selu", .read = readSelu},
    {.name = "Shrink", .read = readShrink, .since = 9},
    {.name = "Sigmoid", .read = readSigmoid},
    {.name = "Softplus", .read = readSoftplus},
    {.name = "Softsign", .read = readSoftsign},
    {.name = "SwiGLU", .read = readSwiGlu, .since = 28},
    {.name = "Swish", .read = readSwish, .since = 24},
    {.name = "Tanh", .read = readTanh},
    {.name = "ThresholdedRelu", .read = readThresholdedRelu, .since = 10},
};

llvm::ArrayRef<OpRow> onnx::activationRows() { return activationTable; }
