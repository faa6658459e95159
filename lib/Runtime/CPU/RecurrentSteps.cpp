//===- RecurrentSteps.cpp - recurrent layers as matrix products -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What the inputs give the gates is one product for all steps; each step adds
/// the product of the state. gru, rnn, and layers with peepholes or limits run
/// through their rows.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "anec/Runtime/CPU/Gemm.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// An activation of a gate.
class Activation {
public:
  explicit Activation(llvm::StringRef name) : name(name) {}

  void apply(size_t n, float *x) const {
    auto with = [&](Unary kind, float p = 0, float q = 0) {
      unary(kind, n, x, x, Rounding::None, p, q);
    };
    if (name == "sigmoid")
      return with(Unary::Sigmoid);
    if (name == "relu")
      return with(Unary::Relu);
    if (name == "sigmoid_hard") {
      with(Unary::Affine, 0.2f, 0.5f);
      return with(Unary::Clip, 0, 1);
    }
    if (name == "scaled_tanh")
      with(Unary::Affine, 2.0f / 3.0f);
    if (name == "tanh" || name == "scaled_tanh")
      with(Unary::Tanh);
    if (name == "scaled_tanh")
      with(Unary::Affine, 1.7159f);
  }

private:
  std::string name;
};

/// One direction of an lstm.
struct Lstm {
  size_t steps, batch, inputs, hidden;
  bool reverse, sequence;
  size_t offset, width; ///< its part of states and results
  Activation gate, update, output;
  PackedWeight inputWeight, stateWeight;
  const float *x, *bias, *initialH, *initialC;
  float *out, *lastH, *lastC;
  Rounding rounding;
  std::vector<float> sums, h, c, activated;

  GemmShape productShape(size_t rows, size_t columns) const {
    GemmShape shape;
    shape.m = rows;
    shape.k = shape.lda = columns;
    shape.n = shape.ldc = 4 * hidden;
    return shape;
  }

  /// Rows of `hidden` elements between a state and its part of `whole`.
  void readState(const float *whole, std::vector<float> &state) const {
    for (size_t image = 0; image < batch; ++image)
      std::copy_n(whole + image * width + offset, hidden,
                  state.data() + image * hidden);
  }
  void writeState(const std::vector<float> &state, float *whole) const {
    for (size_t image = 0; image < batch; ++image)
      unary(Unary::Copy, hidden, state.data() + image * hidden,
            whole + image * width + offset, rounding);
  }

  /// Makes h and c of one image those after a step, from what goes into its
  /// gates: input, forget, output, update.
  void advance(float *gates, float *h, float *c) {
    gate.apply(3 * hidden, gates);
    update.apply(hidden, gates + 3 * hidden);
    for (size_t j = 0; j < hidden; ++j) {
      c[j] = gates[hidden + j] * c[j] + gates[j] * gates[3 * hidden + j];
      activated[j] = c[j];
    }
    output.apply(hidden, activated.data());
    for (size_t j = 0; j < hidden; ++j)
      h[j] = gates[2 * hidden + j] * activated[j];
  }

  void run(ThreadPool &pool) {
    readState(initialH, h);
    readState(initialC, c);
    GemmOperands product;
    product.a = x;
    product.c = sums.data();
    product.columnBias = bias;
    gemmRight(pool, inputWeight, productShape(steps * batch, inputs), product);
    for (size_t number = 0; number < steps; ++number) {
      size_t t = reverse ? steps - 1 - number : number;
      float *gates = sums.data() + t * batch * 4 * hidden;
      GemmOperands fromState;
      fromState.a = h.data();
      fromState.c = gates;
      gemmRight(pool, stateWeight, productShape(batch, hidden), fromState,
                {Rounding::None, /*accumulate=*/true});
      for (size_t image = 0; image < batch; ++image)
        advance(gates + image * 4 * hidden, h.data() + image * hidden,
                c.data() + image * hidden);
      if (sequence || number == steps - 1)
        writeState(h, out + (sequence ? t : 0) * batch * width);
    }
    writeState(h, lastH);
    writeState(c, lastC);
  }
};

} // namespace

/// The direction whose weights' names end with `suffix`.
static std::shared_ptr<Lstm> makeDirection(const Op &op, StepContext &ctx,
                                           llvm::StringRef suffix,
                                           bool reverse) {
  auto operand = [&](llvm::StringRef name) -> const float * {
    const Value *value = op.operand(name);
    return value ? ctx.storage.floats(value) : nullptr;
  };
  auto weight = [&](llvm::StringRef name) {
    std::string full = (name + suffix).str();
    const Shape &shape = op.operand(full)->type.shape;
    return PackedWeight::right(shape[1], shape[0], operand(full), shape[1],
                               Transpose::Yes);
  };
  const Shape &x = op.operand("x")->type.shape;
  size_t hidden = op.operand("weight_hh")->type.shape[1];
  size_t width = op.operand("initial_h")->type.shape[1];
  auto lstm = std::make_shared<Lstm>(
      Lstm{size_t(x[0]),
           size_t(x[1]),
           size_t(x[2]),
           hidden,
           reverse,
           op.boolAttr("output_sequence"),
           suffix.empty() ? 0 : hidden,
           width,
           Activation(op.stringAttr("recurrent_activation")),
           Activation(op.stringAttr("cell_activation")),
           Activation(op.stringAttr("activation")),
           weight("weight_ih"),
           weight("weight_hh"),
           operand("x"),
           operand(("bias" + suffix).str()),
           operand("initial_h"),
           operand("initial_c"),
           ctx.storage.floats(op.result(0)),
           ctx.storage.floats(op.result(1)),
           ctx.storage.floats(op.result(2)),
           ctx.rounding(op.result())});
  lstm->sums.resize(lstm->steps * lstm->batch * 4 * hidden);
  lstm->h.resize(lstm->batch * hidden);
  lstm->c.resize(lstm->batch * hidden);
  lstm->activated.resize(hidden);
  return lstm;
}

StepFn cpu::makeLstm(const Op &op, StepContext &ctx) {
  for (llvm::StringRef name :
       {"weight_ih", "weight_hh", "weight_ih_back", "weight_hh_back"})
    if (op.operand(name) && !ctx.schedule.isConstant(op.operand(name)))
      return {};
  if (op.operand("peephole") || op.operand("peephole_back") ||
      op.constant("clip"))
    return {};
  llvm::StringRef direction = op.stringAttr("direction");
  auto first = makeDirection(op, ctx, "", direction == "reverse");
  if (direction != "bidirectional")
    return [first, &pool = ctx.pool] { first->run(pool); };
  auto second = makeDirection(op, ctx, "_back", true);
  return [first, second, &pool = ctx.pool] {
    first->run(pool);
    second->run(pool);
  };
}
