//===- Recurrent.cpp - recurrent layers -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// lstm, gru and rnn over x [steps, batch, inputs], with H hidden elements. The
/// weights of a layer's gates are stacked along axis 0.
///
/// Where Apple's documentation is silent: output element t of a layer that runs
/// in reverse belongs to input element t; `clip` bounds the arguments of the
/// gates' activations; scaled_tanh is 1.7159 tanh(2/3 x), and sigmoid_hard
/// clamps 0.2 x + 0.5 to [0, 1].
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Recurrent.h"
#include "Infer.h"
#include "RecurrentSteps.h"
#include "Reference.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Recurrent.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static constexpr llvm::StringRef activationNames =
    oneOf<"activations are ", GateActivation>;

using GateFunction = double (*)(double);

static GateFunction functionOf(GateActivation activation) {
  switch (activation) {
  case GateActivation::Linear:
    return [](double x) { return x; };
  case GateActivation::Relu:
    return [](double x) { return larger(x, 0); };
  case GateActivation::ScaledTanh:
    return [](double x) { return 1.7159 * std::tanh(2 * x / 3); };
  case GateActivation::Sigmoid:
    return [](double x) { return 1 / (1 + std::exp(-x)); };
  case GateActivation::SigmoidHard:
    return [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); };
  case GateActivation::Tanh:
    return [](double x) { return std::tanh(x); };
  }
  llvm_unreachable("an activation without a function");
}

//===----------------------------------------------------------------------===//
// Shared code
//===----------------------------------------------------------------------===//

/// Checks one direction's weights, from operand `slot` on: [gates * H, inputs]
/// and [gates * H, H].
static bool checkWeights(InferContext &ctx, unsigned slot, int64_t gates) {
  if (!checkRank(ctx, slot, 2, 2) || !checkRank(ctx, slot + 1, 2, 2))
    return false;
  int64_t hidden = ctx.type(slot + 1).shape[1];
  return checkShape(ctx, slot + 1, {gates * hidden, hidden}) &&
         checkShape(ctx, slot, {gates * hidden, ctx.type(0).shape[2]});
}

/// The result types: the sequence, and `states` final states.
static bool inferSequence(InferContext &ctx, int64_t hidden, unsigned states) {
  const TensorType &x = ctx.type(0);
  int64_t steps = ctx.get(param::outputSequence) ? x.shape[0] : 1;
  ctx.results.assign(1, {x.dtype, {steps, x.shape[1], hidden}});
  ctx.results.append(states, {x.dtype, {x.shape[1], hidden}});
  return true;
}

namespace {

/// One direction of a layer, and the position of its elements in states and
/// results.
struct Pass {
  bool reverse = false;
  int64_t hidden, offset = 0, width; ///< elements [offset, +hidden) of `width`

  /// The index of element j in a state [batch, width].
  int64_t at(int64_t image, int64_t j) const {
    return image * width + offset + j;
  }
};

/// Runs the steps of a sequence. `step(image, x, h)` gets the inputs x of one
/// element of the batch and updates its state h. The first result gets the
/// state after each step, or only the last one; the second result gets the last
/// one.
template <typename StepFunction>
void runSequence(EvalContext &ctx, const Pass &pass, StepFunction step) {
  const RefTensor &x = *ctx.in[0], &initial = *ctx.in[1];
  int64_t steps = x.type.shape[0], batch = x.type.shape[1],
          inputs = x.type.shape[2];
  bool sequence = ctx.get(param::outputSequence);
  std::vector<double> h(pass.hidden);
  for (int64_t image = 0; image < batch; ++image) {
    for (int64_t j = 0; j < pass.hidden; ++j)
      h[j] = initial.data[pass.at(image, j)];
    for (int64_t number = 0; number < steps; ++number) {
      int64_t t = pass.reverse ? steps - 1 - number : number;
      step(image, &x.data[(t * batch + image) * inputs], h);
      if (!sequence && number != steps - 1)
        continue;
      int64_t to = sequence ? t : 0;
      for (int64_t j = 0; j < pass.hidden; ++j)
        ctx.out[0].data[pass.at(to * batch + image, j)] = h[j];
    }
    for (int64_t j = 0; j < pass.hidden; ++j)
      ctx.out[1].data[pass.at(image, j)] = h[j];
  }
}

} // namespace

/// sums[i] += (row i of weight) x.
static void addProduct(const RefTensor &weight, const double *x,
                       llvm::MutableArrayRef<double> sums) {
  int64_t columns = weight.type.shape[1];
  for (size_t i = 0; i < sums.size(); ++i)
    for (int64_t j = 0; j < columns; ++j)
      sums[i] += weight.data[i * columns + j] * x[j];
}

/// The bias, or zeros.
static std::vector<double> startingAt(const RefTensor *bias, int64_t count) {
  return bias ? bias->data : std::vector<double>(count);
}

/// One multiplication and one addition per weight and step.
static int64_t flopsRecurrent(const Op &op) {
  llvm::ArrayRef<int64_t> x = op.operand(param::x)->type.shape;
  int64_t weights = 0;
  for (const ValueParam &weight : {param::weightIh, param::weightHh,
                                   param::weightIhBack, param::weightHhBack})
    if (op.def().valueSlot(weight) >= 0 && op.operand(weight))
      weights += op.operand(weight)->type.numElements();
  return saturatingProduct({2, x[0], x[1], weights});
}

//===----------------------------------------------------------------------===//
// lstm
//===----------------------------------------------------------------------===//

namespace {
enum LstmSlot : unsigned { LstmX, LstmH, LstmC, LstmForward, LstmBack = 7 };
} // namespace

/// Weights, bias and peephole of one direction, from operand `slot` on.
static bool checkLstmDirection(InferContext &ctx, unsigned slot,
                               int64_t hidden) {
  return checkWeights(ctx, slot, 4) &&                      // C2
         checkShape(ctx, slot + 1, {4 * hidden, hidden}) && // C2
         checkShape(ctx, slot + 2, 4 * hidden) &&           // C3
         checkShape(ctx, slot + 3, 3 * hidden);             // C3
}

static bool inferLstm(InferContext &ctx) {
  if (!checkRank(ctx, LstmX, 3, 3) || // C1
      !checkRank(ctx, LstmForward + 1, 2, 2))
    return false;
  int64_t hidden = ctx.type(LstmForward + 1).shape[1];
  if (!checkLstmDirection(ctx, LstmForward, hidden) ||
      !checkMode(ctx, param::direction) ||           // C4
      !checkMode(ctx, param::recurrentActivation) || // C5
      !checkMode(ctx, param::cellActivation) ||      // C5
      !checkMode(ctx, param::activation))            // C5
    return false;
  int64_t width = hidden;
  if (ctx.get(param::direction) == RnnDirection::Bidirectional) {
    width = 2 * hidden;
    for (unsigned slot : {LstmBack + 0u, LstmBack + 1u})
      if (!ctx.hasOperand(slot)) // C6
        return ctx.fail(
            diag::MissingOperand(ctx.opName(), valueParam(ctx.def, slot).name));
    if (!checkLstmDirection(ctx, LstmBack, hidden)) // C6
      return false;
  }
  int64_t batch = ctx.type(LstmX).shape[1];
  return checkShape(ctx, LstmH, {batch, width}) && // C7
         checkShape(ctx, LstmC, {batch, width}) && // C7
         inferSequence(ctx, width, 2);
}

namespace {
/// One step of one element of the batch.
struct LstmCell {
  double (*gate)(double), (*update)(double), (*output)(double);
  double limit = INFINITY;

  /// `sums` has the arguments of the gates (input, forget, output, update),
  /// without peepholes.
  void advance(llvm::ArrayRef<double> sums, const RefTensor *peephole,
               llvm::MutableArrayRef<double> h, double *c) const {
    int64_t hidden = h.size();
    for (int64_t j = 0; j < hidden; ++j) {
      auto looked = [&](unsigned number, double state) {
        double seen =
            peephole ? peephole->data[number * hidden + j] * state : 0;
        return std::clamp(sums[number * hidden + j] + seen, -limit, limit);
      };
      double in = gate(looked(0, c[j])), forget = gate(looked(1, c[j]));
      double candidate =
          update(std::clamp(sums[3 * hidden + j], -limit, limit));
      c[j] = forget * c[j] + in * candidate;
      h[j] = gate(looked(2, c[j])) * output(c[j]);
    }
  }
};
} // namespace

static void evalLstm(EvalContext &ctx) {
  LstmCell cell{functionOf(ctx.get(param::recurrentActivation)),
                functionOf(ctx.get(param::cellActivation)),
                functionOf(ctx.get(param::activation))};
  if (ctx.constant(param::clip))
    cell.limit = std::fabs(ctx.get(param::clip));
  RnnDirection direction = ctx.get(param::direction);
  int64_t hidden = ctx.in[LstmForward + 1]->type.shape[1];
  bool both = direction == RnnDirection::Bidirectional;
  ctx.out[2].data = ctx.in[LstmC]->data;
  for (unsigned number = 0; number < (both ? 2 : 1); ++number) {
    Pass pass{number == 1 || direction == RnnDirection::Reverse, hidden,
              number * hidden, both ? 2 * hidden : hidden};
    unsigned slot = number == 1 ? LstmBack : LstmForward;
    const RefTensor &inputWeight = *ctx.in[slot],
                    &stateWeight = *ctx.in[slot + 1];
    const RefTensor *bias = operandOrNull(ctx, slot + 2),
                    *peephole = operandOrNull(ctx, slot + 3);
    runSequence(
        ctx, pass, [&](int64_t image, const double *x, std::vector<double> &h) {
          std::vector<double> sums = startingAt(bias, 4 * hidden);
          addProduct(inputWeight, x, sums);
          addProduct(stateWeight, h.data(), sums);
          cell.advance(sums, peephole, h, &ctx.out[2].data[pass.at(image, 0)]);
        });
  }
}

constinit const OpDef ops::Lstm = {
    .name = "lstm",
    .summary =
        "A long short-term memory (LSTM) layer. Gates i, f, o and g, in the "
        "order of the weights, are computed from `weight_ih` x + `weight_hh` h "
        "+ `bias`; c = f c + i g and h = o activation(c). Returns h of every "
        "step or of the last step, the last h, and the last c. When "
        "bidirectional, results of both directions are concatenated.",
    .family = "recurrent",
    .params = {value(param::x, floats, 'T', "[steps, batch, inputs]"),
               value(param::initialH, floats, 'T',
                     "[batch, H], or [batch, 2H] when bidirectional"),
               value(param::initialC, floats, 'T',
                     "[batch, H], or [batch, 2H] when bidirectional"),
               stored(value(param::weightIh, floats, 'T', "[4H, inputs]")),
               stored(value(param::weightHh, floats, 'T', "[4H, H]")),
               stored(optionalValue(param::bias, floats, 'T', "[4H]")),
               stored(optionalValue(param::peephole, floats, 'T',
                                    "[3H]: weights of c in gates i, f and o")),
               stored(optionalValue(param::weightIhBack)),
               stored(optionalValue(param::weightHhBack)),
               stored(optionalValue(param::biasBack)),
               stored(optionalValue(param::peepholeBack)),
               mode(param::direction, RnnDirection::Forward),
               boolean(param::outputSequence, "false"),
               mode(param::recurrentActivation, GateActivation::Sigmoid,
                    "of i, f and o"),
               mode(param::cellActivation, GateActivation::Tanh, "of g"),
               mode(param::activation, GateActivation::Tanh),
               ParamDef{param::clip, ParamKind::OptionalConstant, floats, 'T',
                        0, "",
                        "limits the inputs of the gates to [-clip, clip]"}},
    .traits = trait::Mil,
    .constraints = {"`x` has rank 3",
                    "`weight_hh` is [4H, H], and `weight_ih` [4H, inputs]",
                    "`bias` has 4H elements, and `peephole` 3H",
                    oneOf<"`direction` is ", RnnDirection>, activationNames,
                    "when bidirectional, the backward weights are given and "
                    "have the same shapes",
                    "initial states are [batch, H], or [batch, 2H] when "
                    "bidirectional"},
    .resultNames = {"sequence", "h", "c"},
    .infer = inferLstm,
    .eval = evalLstm,
    .decomposeForGradient = unrollLstm,
    .flops = flopsRecurrent,
    .positions = {positions::combined},
};

//===----------------------------------------------------------------------===//
// gru
//===----------------------------------------------------------------------===//

/// Checks what gru and rnn share: x, initial_h, weight_ih, weight_hh, bias.
static bool inferOneWay(InferContext &ctx, int64_t gates) {
  if (!checkRank(ctx, 0, 3, 3) ||   // C1
      !checkWeights(ctx, 2, gates)) // C2
    return false;
  int64_t hidden = ctx.type(3).shape[1];
  return checkShape(ctx, 4, gates * hidden) && // C3
         checkMode(ctx, param::direction,
                   {RnnDirection::Forward, RnnDirection::Reverse}) && // C4
         checkMode(ctx, param::activation) &&                         // C5
         checkShape(ctx, 1, {ctx.type(0).shape[1], hidden}) &&        // C6
         inferSequence(ctx, hidden, 1);
}

static bool inferGru(InferContext &ctx) {
  return checkMode(ctx, param::recurrentActivation) && // C5
         inferOneWay(ctx, 3) &&
         checkShape(ctx, 5, 3 * ctx.type(3).shape[1]); // C3
}

static void evalGru(EvalContext &ctx) {
  const RefTensor &inputWeight = *ctx.in[2], &stateWeight = *ctx.in[3];
  const RefTensor *bias = operandOrNull(ctx, 4),
                  *inputBias = operandOrNull(ctx, 5);
  int64_t H = stateWeight.type.shape[1];
  auto *gate = functionOf(ctx.get(param::recurrentActivation));
  auto *activation = functionOf(ctx.get(param::activation));
  bool resetAfter = ctx.get(param::resetAfter);
  // The rows of gate o, the second of three.
  RefTensor candidateWeight{
      {DType::FP64, {H, H}},
      {stateWeight.data.begin() + H * H, stateWeight.data.begin() + 2 * H * H}};
  Pass pass{ctx.get(param::direction) == RnnDirection::Reverse, H, 0, H};
  runSequence(ctx, pass, [&](int64_t, const double *x, std::vector<double> &h) {
    std::vector<double> fromInput = startingAt(inputBias, 3 * H);
    std::vector<double> fromState = startingAt(bias, 3 * H);
    addProduct(inputWeight, x, fromInput);
    std::vector<double> candidate(fromState.begin() + H,
                                  fromState.begin() + 2 * H);
    addProduct(stateWeight, h.data(), fromState);
    std::vector<double> seen = h;
    if (!resetAfter)
      for (int64_t j = 0; j < H; ++j)
        seen[j] *= gate(fromInput[j] + fromState[j]);
    addProduct(candidateWeight, seen.data(), candidate);
    for (int64_t j = 0; j < H; ++j) {
      double reset = gate(fromInput[j] + fromState[j]);
      double update = gate(fromInput[2 * H + j] + fromState[2 * H + j]);
      double fresh = activation(fromInput[H + j] +
                                candidate[j] * (resetAfter ? reset : 1.0));
      h[j] = (1 - update) * fresh + update * h[j];
    }
  });
}

constinit const OpDef ops::Gru = {
    .name = "gru",
    .summary = "A gated recurrent unit (GRU) layer with gates r, o and z, in "
               "the order of the weights: h = (1 - z) o + z h. Gate o is "
               "computed from r * h; with `reset_after`, r multiplies the "
               "product of the weights and h instead. Returns h of every step "
               "or of the last step, and the last h.",
    .family = "recurrent",
    .params = {value(param::x, floats, 'T', "[steps, batch, inputs]"),
               value(param::initialH, floats, 'T', "[batch, H]"),
               stored(value(param::weightIh, floats, 'T', "[3H, inputs]")),
               stored(value(param::weightHh, floats, 'T', "[3H, H]")),
               stored(optionalValue(param::bias, floats, 'T',
                                    "[3H], added to the product with h")),
               since(18, stored(optionalValue(
                             param::inputBias, floats, 'T',
                             "[3H], added to the product with x"))),
               mode(param::direction, RnnDirection::Forward),
               boolean(param::outputSequence, "false"),
               mode(param::recurrentActivation, GateActivation::Sigmoid,
                    "of r and z"),
               mode(param::activation, GateActivation::Tanh, "of o"),
               since(18, boolean(param::resetAfter, "false"))},
    .traits = trait::Mil,
    .constraints = {"`x` has rank 3",
                    "`weight_hh` is [3H, H], and `weight_ih` [3H, inputs]",
                    "biases have 3H elements",
                    "`direction` is forward or reverse", activationNames,
                    "`initial_h` is [batch, H]"},
    .resultNames = {"sequence", "h"},
    .infer = inferGru,
    .eval = evalGru,
    .decomposeForGradient = unrollGru,
    .flops = flopsRecurrent,
    .positions = {positions::combined},
};

//===----------------------------------------------------------------------===//
// rnn
//===----------------------------------------------------------------------===//

static bool inferRnn(InferContext &ctx) { return inferOneWay(ctx, 1); }

static void evalRnn(EvalContext &ctx) {
  const RefTensor &inputWeight = *ctx.in[2], &stateWeight = *ctx.in[3];
  const RefTensor *bias = operandOrNull(ctx, 4);
  int64_t hidden = stateWeight.type.shape[1];
  auto *activation = functionOf(ctx.get(param::activation));
  Pass pass{ctx.get(param::direction) == RnnDirection::Reverse, hidden, 0,
            hidden};
  runSequence(ctx, pass, [&](int64_t, const double *x, std::vector<double> &h) {
    std::vector<double> sums = startingAt(bias, hidden);
    addProduct(inputWeight, x, sums);
    addProduct(stateWeight, h.data(), sums);
    for (int64_t j = 0; j < hidden; ++j)
      h[j] = activation(sums[j]);
  });
}

constinit const OpDef ops::Rnn = {
    .name = "rnn",
    .summary =
        "A recurrent layer: h = activation(`weight_ih` x + `weight_hh` h + "
        "`bias`). Returns h of every step or of the last step, and the last h.",
    .family = "recurrent",
    .params = {value(param::x, floats, 'T', "[steps, batch, inputs]"),
               value(param::initialH, floats, 'T', "[batch, H]"),
               stored(value(param::weightIh, floats, 'T', "[H, inputs]")),
               stored(value(param::weightHh, floats, 'T', "[H, H]")),
               stored(optionalValue(param::bias, floats, 'T', "[H]")),
               mode(param::direction, RnnDirection::Forward),
               boolean(param::outputSequence, "false"),
               mode(param::activation, GateActivation::Tanh)},
    .traits = trait::Mil,
    .constraints = {"`x` has rank 3",
                    "`weight_hh` is [H, H], and `weight_ih` [H, inputs]",
                    "`bias` has H elements",
                    "`direction` is forward or reverse", activationNames,
                    "`initial_h` is [batch, H]"},
    .resultNames = {"sequence", "h"},
    .infer = inferRnn,
    .eval = evalRnn,
    .decomposeForGradient = unrollRnn,
    .flops = flopsRecurrent,
    .positions = {positions::combined},
};
