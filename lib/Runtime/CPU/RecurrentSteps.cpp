//===- RecurrentSteps.cpp - lstm as matrix products -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The part of the gates that comes from the inputs is one product for all
/// steps; each step adds the product with the state. Layers with peepholes or
/// limits are evaluated by their reference; gru and rnn are in GruStep.cpp.
///
//===----------------------------------------------------------------------===//

#include "GateActivation.h"
#include "StateWeight.h"
#include "Steps.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// One direction of an lstm.
struct Lstm {
  size_t steps, batch, inputs, hidden;
  bool reverse, sequence;
  size_t offset, width; ///< its part of states and results
  Activation gate, update, output;
  const ProductKernels &kernels;
  PackedWeight inputWeight;
  StateWeight stateWeight;
  const float *x, *bias, *initialH, *initialC;
  float *out, *lastH, *lastC;
  Rounding rounding;
  std::vector<float> sums, h, c, activated;

  /// The shape of the product with the inputs of all steps.
  GemmShape productShape() const {
    GemmShape shape;
    shape.m = steps * batch;
    shape.k = shape.lda = inputs;
    shape.n = shape.ldc = 4 * hidden;
    return shape;
  }

  /// Copies rows of `hidden` elements between a state and its part of `whole`.
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

  /// Updates h and c of one image by one step, from the sums of its gates:
  /// input, forget, output, update.
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

  void run(Executor &pool) {
    readState(initialH, h);
    readState(initialC, c);
    GemmOperands product;
    product.a = x;
    product.c = sums.data();
    product.columnBias = bias;
    kernels.multiplyRight(pool, inputWeight, productShape(), product, {});
    for (size_t number = 0; number < steps; ++number) {
      size_t t = reverse ? steps - 1 - number : number;
      float *gates = sums.data() + t * batch * 4 * hidden;
      stateWeight.multiply(pool, h.data(), /*bias=*/nullptr, gates,
                           /*accumulate=*/true);
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

/// The weights and the bias of one direction of an lstm.
struct DirectionParams {
  ValueParam weightIh, weightHh, bias;
};
static constexpr DirectionParams firstDirection = {
    param::weightIh, param::weightHh, param::bias};
static constexpr DirectionParams secondDirection = {
    param::weightIhBack, param::weightHhBack, param::biasBack};

static std::shared_ptr<Lstm> makeDirection(const Op &op, StepContext &ctx,
                                           const DirectionParams &params,
                                           bool reverse) {
  auto operand = [&](const ValueParam &name) -> const float * {
    const Value *value = op.operand(name);
    return value ? ctx.storage.floats(value) : nullptr;
  };
  const Shape &x = op.operand(param::x)->type.shape;
  size_t hidden = op.operand(param::weightHh)->type.shape[1];
  size_t width = op.operand(param::initialH)->type.shape[1];
  auto lstm = std::make_shared<Lstm>(Lstm{
      size_t(x[0]),
      size_t(x[1]),
      size_t(x[2]),
      hidden,
      reverse,
      op.get(param::outputSequence),
      &params == &secondDirection ? hidden : 0,
      width,
      Activation(op.get(param::recurrentActivation)),
      Activation(op.get(param::cellActivation)),
      Activation(op.get(param::activation)),
      ctx.products,
      ctx.products.packRight(size_t(x[2]), 4 * hidden, operand(params.weightIh),
                             size_t(x[2]), Transpose::Yes),
      StateWeight(ctx.products, size_t(x[1]), 4 * hidden, hidden,
                  operand(params.weightHh)),
      operand(param::x),
      operand(params.bias),
      operand(param::initialH),
      operand(param::initialC),
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
  for (const ValueParam &weight : {param::weightIh, param::weightHh,
                                   param::weightIhBack, param::weightHhBack})
    if (op.operand(weight) && !ctx.schedule.isConstant(op.operand(weight)))
      return {};
  if (op.operand(param::peephole) || op.operand(param::peepholeBack) ||
      op.constant(param::clip))
    return {};
  llvm::StringRef direction = op.get(param::direction);
  auto first = makeDirection(op, ctx, firstDirection, direction == "reverse");
  if (direction != "bidirectional")
    return [first, &pool = ctx.pool] { first->run(pool); };
  auto second = makeDirection(op, ctx, secondDirection, true);
  return [first, second, &pool = ctx.pool] {
    first->run(pool);
    second->run(pool);
  };
}
