//===- GruStep.cpp - gru and rnn as matrix products -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The part that comes from the inputs is one product for all steps. Each step
/// of an rnn adds the product with the state; each step of a gru has two
/// products, one for the gates r and z, and one for the candidate o, which
/// depends on r.
///
//===----------------------------------------------------------------------===//

#include "GateActivation.h"
#include "StateWeight.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Recurrent.h"
#include "lib/Ops/Rows/Recurrent.h"
#include <optional>

using namespace anec;
using namespace anec::cpu;

namespace {

/// What gru and rnn have in common.
struct Layer {
  size_t steps, batch, inputs, hidden, gates;
  bool reverse, sequence;
  const ProductKernels &kernels;
  const float *x, *initialH;
  float *out, *lastH;
  Rounding rounding;
  PackedWeight inputWeight;
  std::vector<float> sums; ///< of all steps, [steps, batch, gates * hidden]
  std::vector<float> h;    ///< [batch, hidden]

  Layer(const Op &op, StepContext &ctx, size_t gates)
      : gates(gates), kernels(ctx.products) {
    const Shape &shape = op.operand(param::x)->type.shape;
    steps = size_t(shape[0]);
    batch = size_t(shape[1]);
    inputs = size_t(shape[2]);
    hidden = size_t(op.operand(param::weightHh)->type.shape[1]);
    reverse = op.get(param::direction) == RnnDirection::Reverse;
    sequence = op.get(param::outputSequence);
    x = ctx.storage.floats(op.operand(param::x));
    initialH = ctx.storage.floats(op.operand(param::initialH));
    out = ctx.storage.floats(op.result(0));
    lastH = ctx.storage.floats(op.result(1));
    rounding = ctx.rounding(op.result(0));
    inputWeight = kernels.packRight(
        inputs, gates * hidden, ctx.storage.floats(op.operand(param::weightIh)),
        inputs, Transpose::Yes);
    sums.resize(steps * batch * gates * hidden);
    h.resize(batch * hidden);
  }

  /// sums = x inputWeight^T + bias
  void multiplyInputs(Executor &pool, const float *bias) {
    GemmShape shape;
    shape.m = steps * batch;
    shape.k = shape.lda = inputs;
    shape.n = shape.ldc = gates * hidden;
    GemmOperands product;
    product.a = x;
    product.c = sums.data();
    product.columnBias = bias;
    kernels.multiplyRight(pool, inputWeight, shape, product, {});
  }

  /// Calls `step(sums)` with the sums of each step in order; it updates `h`.
  template <typename Step>
  void run(Executor &pool, const float *inputBias, Step step) {
    std::copy_n(initialH, h.size(), h.data());
    multiplyInputs(pool, inputBias);
    for (size_t number = 0; number < steps; ++number) {
      size_t t = reverse ? steps - 1 - number : number;
      step(sums.data() + t * batch * gates * hidden);
      if (sequence || number == steps - 1)
        unary(Unary::Copy, h.size(), h.data(),
              out + (sequence ? t : 0) * h.size(), rounding);
    }
    unary(Unary::Copy, h.size(), h.data(), lastH, rounding);
  }
};

/// The layer, and what a gru has besides. Gates are r, o and z.
struct Gru : Layer {
  bool resetAfter;
  Activation gate, activation;
  std::vector<float> rows; ///< the state weights of r and z
  std::optional<StateWeight> gateWeight, candidateWeight;
  std::vector<float> gateBias; ///< of r and z; empty for none
  const float *bias, *inputBias;
  std::vector<float> fromState; ///< [batch, 2 * hidden]: r and z
  std::vector<float> seen;      ///< [batch, hidden]: the state that o sees
  std::vector<float> candidate; ///< [batch, hidden]

  Gru(const Op &op, StepContext &ctx)
      : Layer(op, ctx, 3), resetAfter(op.get(param::resetAfter)),
        gate(op.get(param::recurrentActivation)),
        activation(op.get(param::activation)) {
    auto floats = [&](const Value *value) -> const float * {
      return value ? ctx.storage.floats(value) : nullptr;
    };
    const float *weight = floats(op.operand(param::weightHh));
    bias = floats(op.operand(param::bias));
    inputBias = floats(op.operand(param::inputBias));
    size_t square = hidden * hidden;
    rows.assign(weight, weight + square);
    rows.insert(rows.end(), weight + 2 * square, weight + 3 * square);
    gateWeight.emplace(kernels, batch, 2 * hidden, hidden, rows.data());
    candidateWeight.emplace(kernels, batch, hidden, hidden, weight + square);
    if (bias) {
      gateBias.assign(bias, bias + hidden);
      gateBias.insert(gateBias.end(), bias + 2 * hidden, bias + 3 * hidden);
    }
    fromState.resize(batch * 2 * hidden);
    seen.resize(h.size());
    candidate.resize(h.size());
  }

  /// h = (1 - z) o + z h
  void advance(Executor &pool, const float *fromInput) {
    gateWeight->multiply(pool, h.data(),
                         gateBias.empty() ? nullptr : gateBias.data(),
                         fromState.data(), /*accumulate=*/false);
    for (size_t image = 0; image < batch; ++image) {
      const float *in = fromInput + image * 3 * hidden;
      float *gates = fromState.data() + image * 2 * hidden;
      for (size_t j = 0; j < hidden; ++j) {
        gates[j] += in[j];
        gates[hidden + j] += in[2 * hidden + j];
      }
    }
    gate.apply(fromState.size(), fromState.data());
    for (size_t i = 0; i < h.size(); ++i)
      seen[i] = resetAfter ? h[i] : h[i] * resetOf(i);
    candidateWeight->multiply(pool, seen.data(), bias ? bias + hidden : nullptr,
                              candidate.data(),
                              /*accumulate=*/false);
    for (size_t i = 0; i < h.size(); ++i) {
      float in = fromInput[i / hidden * 3 * hidden + hidden + i % hidden];
      candidate[i] = in + candidate[i] * (resetAfter ? resetOf(i) : 1.0f);
    }
    activation.apply(candidate.size(), candidate.data());
    for (size_t i = 0; i < h.size(); ++i) {
      float update = fromState[i / hidden * 2 * hidden + hidden + i % hidden];
      h[i] = (1 - update) * candidate[i] + update * h[i];
    }
  }

private:
  float resetOf(size_t i) const {
    return fromState[i / hidden * 2 * hidden + i % hidden];
  }
};

/// An rnn, whose only gate is the state itself.
struct Rnn : Layer {
  Activation activation;
  StateWeight stateWeight;
  const float *bias = nullptr;

  Rnn(const Op &op, StepContext &ctx)
      : Layer(op, ctx, 1), activation(op.get(param::activation)),
        stateWeight(kernels, batch, hidden, hidden,
                    ctx.storage.floats(op.operand(param::weightHh))) {
    if (const Value *value = op.operand(param::bias))
      bias = ctx.storage.floats(value);
  }

  void advance(Executor &pool, float *total) {
    stateWeight.multiply(pool, h.data(), /*bias=*/nullptr, total,
                         /*accumulate=*/true);
    activation.apply(h.size(), total);
    std::copy_n(total, h.size(), h.data());
  }
};

} // namespace

static bool hasConstantWeights(const Op &op, StepContext &ctx) {
  return op.operand(param::x)->type.numElements() != 0 &&
         ctx.schedule.isConstant(op.operand(param::weightIh)) &&
         ctx.schedule.isConstant(op.operand(param::weightHh));
}

static StepFn makeGru(const Op &op, StepContext &ctx) {
  const Value *bias = op.operand(param::bias);
  // Parts of the weights and of the bias are copied on loading.
  if (!hasConstantWeights(op, ctx) || (bias && !ctx.schedule.isConstant(bias)))
    return {};
  auto gru = std::make_shared<Gru>(op, ctx);
  return [gru, &pool = ctx.pool] {
    gru->run(pool, gru->inputBias,
             [&](float *sums) { gru->advance(pool, sums); });
  };
}

static StepFn makeRnn(const Op &op, StepContext &ctx) {
  if (!hasConstantWeights(op, ctx))
    return {};
  auto rnn = std::make_shared<Rnn>(op, ctx);
  return [rnn, &pool = ctx.pool] {
    rnn->run(pool, rnn->bias, [&](float *sums) { rnn->advance(pool, sums); });
  };
}

static constexpr StepRow gruStepsTable[] = {
    {&ops::Gru, makeGru},
    {&ops::Rnn, makeRnn},
};

llvm::ArrayRef<StepRow> cpu::gruSteps() { return gruStepsTable; }
