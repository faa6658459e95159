//===- Recurrent.cpp - recurrent layers -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Recurrent.h"
#include "../Choice.h"
#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Recurrent.h"
#include "lib/Ops/Params/Sequences.h"
#include "lib/Ops/Rows/Recurrent.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Select.h"
#include "llvm/ADT/StringSwitch.h"

using namespace anec;
using namespace anec::onnx;

namespace {

/// The operands of a recurrent layer, and what its attributes say. Weights have
/// an axis of directions in front.
struct Layer {
  Val x; ///< [steps, batch, inputs]
  Val inputWeights, hiddenWeights, bias;
  Val initialH; ///< [directions, batch, hidden]
  Val initialC; ///< the same; missing where there is none
  Val lengths;  ///< int32 [batch], where sequences are shorter than the input
  int64_t hidden = 0, directions = 1, batch = 1;
  bool firstIsReverse = false, batchFirst = false;
  std::vector<GateActivation> activations;
};

/// The results of one direction.
struct Direction {
  Val sequence; ///< [steps, batch, hidden]
  Val h, c;     ///< the last ones: [batch, hidden]
};

} // namespace

/// Nothing for activations that MIL lacks. Case does not matter, as in
/// onnxruntime.
static std::optional<GateActivation> activationOf(StringRef name) {
  return llvm::StringSwitch<std::optional<GateActivation>>(name)
      .CaseLower("Sigmoid", GateActivation::Sigmoid)
      .CaseLower("Tanh", GateActivation::Tanh)
      .CaseLower("Relu", GateActivation::Relu)
      .Default(std::nullopt);
}

/// Reads the lengths of sequences that are not all as long as the input, which
/// run a step at a time. Returns false after an error.
static bool readLengths(Node &node, Layer &layer) {
  if (!node.has(4))
    return true;
  Val lengths = node.in(4);
  int64_t steps = layer.x.dim(0);
  if (lengths.shape() != Shape{layer.x.dim(1)}) {
    node.fail("`sequence_lens` must have a length for each sequence");
    return false;
  }
  if (ConstantRef known = node.e.known(lengths))
    if (llvm::all_of(known->asInts(),
                     [&](int64_t length) { return length == steps; }))
      return true;
  constexpr int64_t most = 1024;
  if (steps > most) {
    node.refuse("lengths of sequences of more than " + llvm::Twine(most) +
                " steps");
    return false;
  }
  layer.lengths = node.e.cast(lengths, DType::Int32);
  return true;
}

/// Reads what the layers have in common; `defaults` are the activations of a
/// direction. Returns false after an error.
static bool readLayer(Node &node, llvm::ArrayRef<StringRef> defaults,
                      Layer &layer) {
  Emitter &e = node.e;
  layer.batchFirst = node.knows("layout") && node.attr("layout", 0) != 0;
  layer.x = node.in(0);
  if (!layer.inputWeights)
    layer.inputWeights = node.in(1);
  if (!layer.hiddenWeights)
    layer.hiddenWeights = node.in(2);
  if (node.failed())
    return false;
  if (layer.x.rank() != 3 || layer.inputWeights.rank() != 3 ||
      layer.hiddenWeights.rank() != 3) {
    node.fail("the input and the weights must have rank 3");
    return false;
  }
  if (layer.batchFirst)
    layer.x = e.transpose(layer.x, {1, 0, 2});
  // ONNX has MIL's words.
  RnnDirection direction = node.hasAttr("direction")
                               ? choiceOf<RnnDirection>(node, "direction")
                               : RnnDirection::Forward;
  layer.directions = direction == RnnDirection::Bidirectional ? 2 : 1;
  layer.firstIsReverse = direction == RnnDirection::Reverse;
  layer.batch = layer.x.dim(1);
  layer.hidden = layer.hiddenWeights.dim(2);
  if (node.attr("hidden_size", layer.hidden) != layer.hidden) {
    node.fail("`hidden_size` is not that of the weights");
    return false;
  }
  if (layer.inputWeights.dim(0) != layer.directions) {
    node.fail("the weights must have an entry for each direction");
    return false;
  }
  if (!readLengths(node, layer))
    return false;
  layer.bias = node.maybe(3);
  Shape states = {layer.directions, layer.batch, layer.hidden};
  layer.initialH =
      node.has(5) ? node.in(5) : e.filled(layer.x.dtype(), states, 0);
  if (node.has(5) && layer.batchFirst)
    layer.initialH = e.transpose(layer.initialH, {1, 0, 2});
  std::vector<StringRef> given = node.attrTexts("activations");
  size_t count = size_t(layer.directions) * defaults.size();
  if (!given.empty() && given.size() != count) {
    node.fail("`activations` has " + llvm::Twine(given.size()) +
              " words, not " + llvm::Twine(count));
    return false;
  }
  for (size_t i = 0; i != count; ++i) {
    StringRef wanted = given.empty() ? defaults[i % defaults.size()] : given[i];
    std::optional<GateActivation> activation = activationOf(wanted);
    if (!activation) {
      node.refuse("the activation " + wanted +
                  " has no counterpart, as Sigmoid, Tanh and Relu have");
      return false;
    }
    layer.activations.push_back(*activation);
  }
  return !node.failed();
}

/// Entry `index` of the first axis, without that axis.
static Val entry(Emitter &e, Val x, int64_t index) {
  Shape shape(x.shape().begin() + (x.rank() > 0), x.shape().end());
  return e.reshape(e.slice(x, 0, index, index + 1), shape);
}

/// The blocks of `size` rows in another order.
static Val reordered(Emitter &e, Val x, int64_t size,
                     llvm::ArrayRef<int64_t> order) {
  Vals parts;
  for (int64_t block : order)
    parts.push_back(e.slice(x, 0, block * size, (block + 1) * size));
  return e.concat(parts, 0);
}

/// Half of the bias of a direction, with blocks in another order: that of the
/// product with the input, or with the state. Zeros without a bias.
static Val biasOf(Emitter &e, const Layer &layer, int64_t direction,
                  bool ofState, llvm::ArrayRef<int64_t> order) {
  auto size = int64_t(order.size()) * layer.hidden;
  if (!layer.bias)
    return e.filled(layer.x.dtype(), {size}, 0);
  Val own = entry(e, layer.bias, direction);
  return reordered(
      e, e.slice(own, 0, ofState ? size : 0, ofState ? 2 * size : size),
      layer.hidden, order);
}

/// One direction, a step at a time: after its end, a sequence keeps its state,
/// and gives zeros.
template <typename Run>
static Direction runSteps(Emitter &e, const Layer &layer, Val x, Val h, Val c,
                          Run run) {
  Vals outputs;
  Val rows = e.reshape(layer.lengths, {layer.batch, 1});
  for (int64_t step = 0; step != layer.x.dim(0); ++step) {
    Direction result = run(e.slice(x, 0, step, step + 1), h, c);
    if (!result.sequence)
      return result;
    Val goesOn =
        e.make(ops::Greater, {rows, e.scalar(DType::Int32, double(step))});
    h = e.select(goesOn, result.h, h);
    if (result.c)
      c = e.select(goesOn, result.c, c);
    Val gives = e.reshape(goesOn, {1, layer.batch, 1});
    outputs.push_back(e.select(gives, result.sequence, e.scalar(x.dtype(), 0)));
  }
  return {e.concat(outputs, 0), h, c};
}

/// Runs each direction, and sets the outputs. `run` takes the sequence, the
/// states and the direction.
template <typename Run>
static void runDirections(Node &node, const Layer &layer, Run run) {
  Emitter &e = node.e;
  Vals sequences, hs, cs;
  Shape one = {1, layer.batch, layer.hidden};
  constexpr int64_t steps[] = {0};
  for (int64_t direction = 0; direction != layer.directions; ++direction) {
    bool reverse = direction == 1 || layer.firstIsReverse;
    auto turned = [&](Val x) {
      if (reverse && layer.lengths)
        return e.make(ops::ReverseSequence, {x, layer.lengths},
                      {{param::seqAxis, 0}, {param::batchAxis, 1}});
      return reverse ? e.make(ops::Reverse, {x}, {{param::axes, steps}}) : x;
    };
    Val h = entry(e, layer.initialH, direction);
    Val c = layer.initialC ? entry(e, layer.initialC, direction) : Val();
    auto runOne = [&](Val x, Val h, Val c) { return run(x, h, c, direction); };
    Val x = turned(layer.x);
    Direction result =
        layer.lengths ? runSteps(e, layer, x, h, c, runOne) : runOne(x, h, c);
    if (!result.sequence)
      return;
    Val sequence = turned(result.sequence);
    sequences.push_back(
        e.reshape(sequence, {layer.x.dim(0), 1, layer.batch, layer.hidden}));
    hs.push_back(e.reshape(result.h, one));
    if (result.c)
      cs.push_back(e.reshape(result.c, one));
  }
  auto state = [&](Vals &parts) {
    Val all = e.concat(parts, 0);
    return layer.batchFirst ? e.transpose(all, {1, 0, 2}) : all;
  };
  Val all = e.concat(sequences, 1);
  node.out(0, layer.batchFirst ? e.transpose(all, {2, 0, 1, 3}) : all);
  node.out(1, state(hs));
  if (!cs.empty())
    node.out(2, state(cs));
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static void rnn(Node &node) {
  node.ignore("activation_alpha");
  node.ignore("activation_beta");
  node.ignore("output_sequence");
  Emitter &e = node.e;
  Layer layer;
  if (!readLayer(node, {"Tanh"}, layer))
    return;
  if (node.attrNumber("clip", 0) != 0)
    return node.refuse("`clip` has no counterpart");
  runDirections(
      node, layer, [&](Val x, Val h, Val, int64_t direction) -> Direction {
        Val ofInput = biasOf(e, layer, direction, false, {0});
        Val ofHidden = biasOf(e, layer, direction, true, {0});
        Val bias = e.add(ofInput, ofHidden);
        Vals results = e.makeAll(
            ops::Rnn,
            {x, h, entry(e, layer.inputWeights, direction),
             entry(e, layer.hiddenWeights, direction), bias},
            {{param::outputSequence, true},
             {param::activation, layer.activations[size_t(direction)]}});
        results.resize(2);
        return {results[0], results[1], {}};
      });
}

static void gru(Node &node) {
  node.ignore("activation_alpha");
  node.ignore("activation_beta");
  node.ignore("output_sequence");
  Emitter &e = node.e;
  Layer layer;
  if (!readLayer(node, {"Sigmoid", "Tanh"}, layer))
    return;
  if (node.attrNumber("clip", 0) != 0)
    return node.refuse("`clip` has no counterpart");
  // ONNX has the gates z, r, o; the op has r, o, z.
  constexpr int64_t order[] = {1, 2, 0};
  bool resetAfter = node.attr("linear_before_reset", 0) != 0;
  runDirections(
      node, layer, [&](Val x, Val h, Val, int64_t direction) -> Direction {
        auto weights = [&](Val all) {
          return reordered(e, entry(e, all, direction), layer.hidden, order);
        };
        size_t first = 2 * size_t(direction);
        Vals results = e.makeAll(
            ops::Gru,
            {x, h, weights(layer.inputWeights), weights(layer.hiddenWeights),
             biasOf(e, layer, direction, true, order),
             biasOf(e, layer, direction, false, order)},
            {{param::outputSequence, true},
             {param::resetAfter, resetAfter},
             {param::recurrentActivation, layer.activations[first]},
             {param::activation, layer.activations[first + 1]}});
        results.resize(2);
        return {results[0], results[1], {}};
      });
}

void onnx::readLstm(Node &node, Val inputWeights, Val hiddenWeights) {
  Emitter &e = node.e;
  Layer layer;
  layer.inputWeights = inputWeights;
  layer.hiddenWeights = hiddenWeights;
  if (!readLayer(node, {"Sigmoid", "Tanh", "Tanh"}, layer))
    return;
  if (node.attr("input_forget", 0) != 0)
    return node.refuse("coupled gates have no counterpart");
  // ONNX has the gates i, o, f, g; the op has i, f, o, g.
  constexpr int64_t order[] = {0, 2, 1, 3}, peepholes[] = {0, 2, 1};
  layer.initialC = node.has(6)
                       ? node.in(6)
                       : e.filled(layer.x.dtype(), layer.initialH.shape(), 0);
  if (node.has(6) && layer.batchFirst)
    layer.initialC = e.transpose(layer.initialC, {1, 0, 2});
  Val peephole = node.maybe(7);
  double clip = node.attrNumber("clip", 0);
  runDirections(
      node, layer, [&](Val x, Val h, Val c, int64_t direction) -> Direction {
        auto weights = [&](Val all) {
          return reordered(e, entry(e, all, direction), layer.hidden, order);
        };
        Val ofInput = biasOf(e, layer, direction, false, order);
        Val ofHidden = biasOf(e, layer, direction, true, order);
        Val bias = e.add(ofInput, ofHidden);
        Vals operands = {x,
                         h,
                         c,
                         weights(layer.inputWeights),
                         weights(layer.hiddenWeights),
                         bias};
        if (peephole)
          operands.push_back(reordered(e, entry(e, peephole, direction),
                                       layer.hidden, peepholes));
        size_t first = 3 * size_t(direction);
        llvm::SmallVector<Attr> attrs = {
            {param::outputSequence, true},
            {param::recurrentActivation, layer.activations[first]},
            {param::cellActivation, layer.activations[first + 1]},
            {param::activation, layer.activations[first + 2]}};
        if (clip != 0)
          attrs.push_back({param::clip, Constant::scalar(x.dtype(), clip)});
        Vals results = e.makeAll(ops::Lstm, operands, attrs);
        results.resize(3);
        return {results[0], results[1], results[2]};
      });
}

static void lstm(Node &node) {
  node.ignore("activation_alpha");
  node.ignore("activation_beta");
  node.ignore("output_sequence");
  Val input = node.in(1), hidden = node.in(2);
  readLstm(node, input, hidden);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow recurrentTable[] = {
    {"GRU", gru, 1, "sigmoid, tanh and relu"},
    {"LSTM", lstm, 1, "sigmoid, tanh and relu"},
    {"RNN", rnn, 1, "sigmoid, tanh and relu"},
};

llvm::ArrayRef<OpRow> onnx::recurrentRows() { return recurrentTable; }
