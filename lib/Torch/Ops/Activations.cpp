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
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

static Attr number(const FloatParam &param, Val x, double value) {
  return {param, Constant::scalar(Emitter::wideOf(x), value)};
}

template <const OpDef &Def>
static void simple(Node &n) {
  n.out(n.e.unary(Def, n.cast(n.item("self"), n.outType())));
}

static void relu(Node &n) {
  Val x = n.in("self");
  if (isFloating(n.typeOf("self")))
    return n.out(n.e.unary(ops::Relu, x));
  n.out(n.e.binary(ops::Maximum, x, n.e.scalar(DType::Int32, 0)));
}

static void relu6(Node &n) { n.out(n.e.unary(ops::Relu6, n.in("self"))); }

static void gelu(Node &n) {
  StringRef approximate = n.text("approximate");
  if (approximate != "none" && approximate != "tanh")
    return n.fail("`approximate` must be `none` or `tanh`");
  n.out(
      n.e.unary(ops::Gelu, n.in("self"),
                {{param::geluMode,
                  approximate == "tanh" ? GeluMode::Tanh : GeluMode::Exact}}));
}

static void leakyRelu(Node &n) {
  Val x = n.in("self");
  n.out(n.e.unary(ops::LeakyRelu, x,
                  {number(param::alpha, x, n.number("negative_slope"))}));
}

static void elu(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  double alpha = n.number("alpha"), scale = n.number("scale"),
         inputScale = n.number("input_scale");
  if (inputScale != 1)
    return n.fail("`input_scale` is not 1");
  Val result = e.unary(ops::Elu, x, {number(param::alpha, x, alpha)});
  n.out(scale == 1 ? result : e.mul(result, scale));
}

static void celu(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  double alpha = n.number("alpha");
  // alpha * (exp(x / alpha) - 1) below 0.
  Val scaled = e.mul(x, 1 / alpha);
  Val unit = e.unary(ops::Elu, scaled, {number(param::alpha, x, 1)});
  n.out(e.mul(unit, alpha));
}

static void selu(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  Val result =
      e.unary(ops::Elu, x, {number(param::alpha, x, 1.6732632423543772)});
  n.out(e.mul(result, 1.0507009873554805));
}

static void softplus(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  double beta = n.number("beta"), threshold = n.number("threshold");
  Val scaled = beta == 1 ? x : e.mul(x, beta);
  Val soft = e.unary(ops::Softplus, scaled);
  if (beta != 1)
    soft = e.mul(soft, 1 / beta);
  Val isLinear = e.make(ops::Greater, {scaled, e.scalar(x.dtype(), threshold)});
  n.out(e.select(isLinear, x, soft));
}

static void hardtanh(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  DType dtype = Emitter::wideOf(x);
  Val low = e.scalar(dtype, n.number("min_val"));
  Val high = e.scalar(dtype, n.number("max_val"));
  n.out(e.binary(ops::Minimum, e.binary(ops::Maximum, x, low), high));
}

static Val hardSigmoid(Emitter &e, Val x) {
  return e.unary(
      ops::SigmoidHard, x,
      {number(param::alpha, x, 1.0 / 6), number(param::beta, x, 0.5)});
}

static void hardsigmoid(Node &n) { n.out(hardSigmoid(n.e, n.in("self"))); }

static void hardswish(Node &n) {
  Val x = n.in("self");
  n.out(n.e.mul(x, hardSigmoid(n.e, x)));
}

static void mish(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  n.out(e.mul(x, e.unary(ops::Tanh, e.unary(ops::Softplus, x))));
}

/// -log(1 + exp(-x)).
static void logSigmoid(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  n.out(e.mul(e.unary(ops::Softplus, e.mul(x, -1)), -1));
}

/// x where it is larger than the limit in size, moved towards 0 if `moves`.
template <bool Moves>
static void shrink(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  double limit = n.number("lambd");
  Val above = e.make(ops::Greater, {x, e.scalar(x.dtype(), limit)});
  Val below = e.make(ops::Less, {x, e.scalar(x.dtype(), -limit)});
  Val zero = e.scalar(x.dtype(), 0);
  Val high = Moves ? e.add(x, -limit) : x, low = Moves ? e.add(x, limit) : x;
  n.out(e.select(above, high, e.select(below, low, zero)));
}

static void threshold(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  Val value = e.native(x.val);
  Val limit = n.cast(n.item("threshold"), x.type);
  Val isBelow = e.make(ops::LessEqual, {value, limit}); // not of NaN
  n.out(e.select(isBelow, n.cast(n.item("value"), x.type), value));
}

static void prelu(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), weight = n.in("weight");
  if (weight.size() > 1 && x.rank() > 1) {
    Shape shape(size_t(x.rank()), 1);
    shape[1] = weight.size();
    weight = e.reshape(weight, shape);
  }
  Val isAbove = e.make(ops::Greater, {x, e.scalar(x.dtype(), 0)});
  n.out(e.select(isAbove, x, e.mul(x, weight)));
}

/// A half times the sigmoid of the other.
static void glu(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t axis = n.axis("dim", x.rank()), half = x.dim(axis) / 2;
  Val first = e.slice(x, axis, 0, half);
  Val second = e.slice(x, axis, half, 2 * half);
  n.out(e.mul(first, e.unary(ops::Sigmoid, second)));
}

/// In training, the slope is random.
static void rrelu(Node &n) {
  n.ignore("generator");
  if (n.flag("training"))
    return n.fail("its result is random in training; export a model in "
                  "`eval()` mode");
  Val x = n.in("self");
  double slope = (n.number("lower") + n.number("upper")) / 2;
  n.out(n.e.unary(ops::LeakyRelu, x, {number(param::alpha, x, slope)}));
}

/// The decomposed form, with the noise as an operand and a result.
static void rreluWithNoise(Node &n) {
  n.out(1, n.in("noise"));
  if (n.flag("training"))
    return n.fail("its result is random in training; export a model in "
                  "`eval()` mode");
  n.ignore("generator");
  Val x = n.in("self");
  double slope = (n.number("lower") + n.number("upper")) / 2;
  n.out(0, n.e.unary(ops::LeakyRelu, x, {number(param::alpha, x, slope)}));
}

static void dropout(Node &n) {
  double p = n.number("p");
  if (n.flag("train") && p != 0)
    return n.fail("its result is random in training; export a model in "
                  "`eval()` mode");
  n.out(n.e.native(n.item(n.has("self") ? "self" : "input").val));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// `dtype` converts before.
static Val converted(Node &n) {
  Item x = n.item("self");
  ScalarType type = n.outType();
  if (n.has("dtype"))
    type = n.type("dtype", type);
  return n.cast(x, type);
}

template <bool IsLog>
static void softmax(Node &n) {
  Emitter &e = n.e;
  n.ignore("half_to_float");
  Val x = converted(n);
  int64_t axis = n.axis("dim", x.rank());
  if (n.failed())
    return;
  if (x.rank() == 0)
    return n.out(e.scalar(x.dtype(), IsLog ? 0 : 1));
  if (IsLog)
    return n.out(e.sub(x, e.reduce(ops::ReduceLogSumExp, x, {axis}, true)));
  n.out(e.make(ops::Softmax, {x}, {{param::axis, axis}}));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow activationTable[] = {
    {"aten._log_softmax.default", softmax<true>},
    {"aten._softmax.default", softmax<false>},
    {"aten.alpha_dropout.default", dropout, "not in training"},
    {"aten.celu.default", celu},
    {"aten.dropout.default", dropout, "not in training"},
    {"aten.elu.default", elu},
    {"aten.feature_dropout.default", dropout, "not in training"},
    {"aten.gelu.default", gelu},
    {"aten.glu.default", glu},
    {"aten.hardshrink.default", shrink<false>},
    {"aten.hardsigmoid.default", hardsigmoid},
    {"aten.hardswish.default", hardswish},
    {"aten.hardtanh.default", hardtanh},
    {"aten.leaky_relu.default", leakyRelu},
    {"aten.log_sigmoid.default", logSigmoid},
    {"aten.log_softmax.int", softmax<true>},
    {"aten.mish.default", mish},
    {"aten.prelu.default", prelu},
    {"aten.relu.default", relu},
    {"aten.relu6.default", relu6},
    {"aten.rrelu.default", rrelu, "not in training"},
    {"aten.rrelu_with_noise_functional.default", rreluWithNoise,
     "not in training"},
    {"aten.selu.default", selu},
    {"aten.sigmoid.default", simple<ops::Sigmoid>},
    {"aten.silu.default", simple<ops::Silu>},
    {"aten.softmax.int", softmax<false>},
    {"aten.softplus.default", softplus},
    {"aten.softshrink.default", shrink<true>},
    {"aten.tanh.default", simple<ops::Tanh>},
    {"aten.threshold.default", threshold},
};

llvm::ArrayRef<OpRow> torch::activationRows() { return activationTable; }
