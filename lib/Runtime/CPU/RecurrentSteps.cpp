//===- RecurrentSteps.cpp - lstm as matrix products -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The part of the gates that comes from the inputs is one product for all
/// steps; each step adds the product with the state. The weights are in an
/// order in which a panel of that product has all gates of some units, so that
/// the worker that computes it advances them, too. Layers with peepholes or
/// limits are evaluated by their reference; gru and rnn are in GruStep.cpp.
///
//===----------------------------------------------------------------------===//

#include "GateActivation.h"
#include "StateWeight.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Recurrent.h"
#include "lib/Ops/Rows/Recurrent.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// The order of the gates' columns: [panel, gate, unit of the panel].
struct GateOrder {
  static constexpr size_t gates = 4;
  size_t hidden;
  size_t units = StateWeight::panelColumns() / gates; ///< of a panel

  /// The first unit of the panel that begins at `column`.
  static size_t firstUnit(size_t column) { return column / gates; }
  /// Copies rows of `count` elements in the order [gate, unit] to this order.
  std::vector<float> sorted(const float *rows, size_t count) const {
    std::vector<float> result;
    result.reserve(gates * hidden * count);
    for (size_t first = 0; first < hidden; first += units)
      for (size_t gate = 0; gate < gates; ++gate) {
        const float *from = rows + (gate * hidden + first) * count;
        size_t length = std::min(units, hidden - first) * count;
        result.insert(result.end(), from, from + length);
      }
    return result;
  }
};

/// One direction of an lstm.
struct Lstm {
  size_t steps, batch, inputs, hidden;
  GateOrder order;
  bool reverse, sequence;
  size_t offset, width; ///< its part of states and results
  Activation gate, update, output;
  const ProductKernels &kernels;
  std::vector<float> sortedInputWeight, sortedStateWeight;
  PackedWeight inputWeight;
  StateWeight stateWeight;
  const float *x, *bias, *initialH, *initialC;
  float *out, *lastH, *lastC;
  Rounding rounding;
  std::vector<float> sums, h, nextH, c;

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

  /// Updates `count` units of one image, from `first` on, by one step, from the
  /// sums of their gates: input, forget, output, update.
  void advance(size_t image, size_t first, size_t count, float *gates) {
    gate.apply(3 * count, gates);
    float *updates = gates + 3 * count;
    update.apply(count, updates);
    float *cell = c.data() + image * hidden + first;
    float *state = nextH.data() + image * hidden + first;
    for (size_t j = 0; j < count; ++j) {
      cell[j] = gates[count + j] * cell[j] + gates[j] * updates[j];
      state[j] = cell[j];
    }
    output.apply(count, state);
    for (size_t j = 0; j < count; ++j)
      state[j] *= gates[2 * count + j];
  }

  void run(Executor &pool) {
    readState(initialH, h);
    readState(initialC, c);
    std::vector<float> sortedBias;
    if (bias)
      sortedBias = order.sorted(bias, 1);
    GemmOperands product;
    product.a = x;
    product.c = sums.data();
    product.columnBias = bias ? sortedBias.data() : nullptr;
    kernels.multiplyRight(pool, inputWeight, productShape(), product, {});
    for (size_t number = 0; number < steps; ++number) {
      size_t t = reverse ? steps - 1 - number : number;
      constexpr size_t gates = GateOrder::gates;
      float *sumsOfStep = sums.data() + t * batch * gates * hidden;
      stateWeight.multiply(
          pool, h.data(), /*bias=*/nullptr, sumsOfStep, /*accumulate=*/true,
          [&](size_t column, size_t columns) {
            for (size_t image = 0; image < batch; ++image)
              advance(image, GateOrder::firstUnit(column), columns / gates,
                      sumsOfStep + image * gates * hidden + column);
          });
      std::swap(h, nextH);
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
  GateOrder order{hidden};
  std::vector<float> sorted = order.sorted(operand(params.weightHh), hidden);
  auto lstm = std::make_shared<Lstm>(
      Lstm{size_t(x[0]),
           size_t(x[1]),
           size_t(x[2]),
           hidden,
           order,
           reverse,
           op.get(param::outputSequence),
           &params == &secondDirection ? hidden : 0,
           width,
           Activation(op.get(param::recurrentActivation)),
           Activation(op.get(param::cellActivation)),
           Activation(op.get(param::activation)),
           ctx.products,
           order.sorted(operand(params.weightIh), size_t(x[2])),
           {},
           {},
           StateWeight(ctx.products, size_t(x[1]), 4 * hidden, hidden,
                       sorted.data()),
           operand(param::x),
           operand(params.bias),
           operand(param::initialH),
           operand(param::initialC),
           ctx.storage.floats(op.result(0)),
           ctx.storage.floats(op.result(1)),
           ctx.storage.floats(op.result(2)),
           ctx.rounding(op.result())});
  if (!lstm->stateWeight.isCopy())
    lstm->sortedStateWeight = std::move(sorted);
  lstm->inputWeight = ctx.products.packRight(lstm->inputs, 4 * hidden,
                                             lstm->sortedInputWeight.data(),
                                             lstm->inputs, Transpose::Yes);
  lstm->sums.resize(lstm->steps * lstm->batch * 4 * hidden);
  lstm->h.resize(lstm->batch * hidden);
  lstm->c.resize(lstm->batch * hidden);
  lstm->nextH.resize(lstm->batch * hidden);
  return lstm;
}

static StepFn makeLstm(const Op &op, StepContext &ctx) {
  for (const ValueParam &weight : {param::weightIh, param::weightHh,
                                   param::weightIhBack, param::weightHhBack})
    if (op.operand(weight) && !ctx.schedule.isConstant(op.operand(weight)))
      return {};
  if (op.operand(param::peephole) || op.operand(param::peepholeBack) ||
      op.constant(param::clip))
    return {};
  RnnDirection direction = op.get(param::direction);
  auto first = makeDirection(op, ctx, firstDirection,
                             direction == RnnDirection::Reverse);
  if (direction != RnnDirection::Bidirectional)
    return [first, &pool = ctx.pool] { first->run(pool); };
  auto second = makeDirection(op, ctx, secondDirection, true);
  return [first, second, &pool = ctx.pool] {
    first->run(pool);
    second->run(pool);
  };
}

static constexpr StepRow lstmStepsTable[] = {
    {&ops::Lstm, makeLstm},
};

llvm::ArrayRef<StepRow> cpu::lstmSteps() { return lstmStepsTable; }
