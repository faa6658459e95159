//===- Recurrent.cpp - recurrent layers -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Activation.h"

using namespace anec;
using namespace anec::torch;

namespace {
/// The parameters of a direction of a layer.
struct LayerWeights {
  Val input, hidden, inputBias, hiddenBias, projection;
};

/// A stack of layers.
struct Stack {
  Val x; ///< [steps, batch, width]
  Val h, c;
  std::vector<LayerWeights> weights; ///< layer by layer, forward then backward
  int64_t layers = 1, directions = 1;
  bool batchFirst = false, isSingle = false;
};
} // namespace

static bool readStack(Node &n, Stack &stack, bool hasCell) {
  Emitter &e = n.e;
  stack.x = n.in("input");
  stack.layers = n.integer("num_layers");
  stack.directions = n.flag("bidirectional") ? 2 : 1;
  stack.batchFirst = n.flag("batch_first");
  bool hasBiases = n.flag("has_biases");
  if (n.flag("train") && n.number("dropout") != 0) {
    n.fail("its dropout is random in training; export a model in `eval()` "
           "mode");
    return false;
  }
  n.ignore("dropout");
  if (hasCell) {
    std::vector<Item> states = n.items("hx");
    if (n.failed() || states.size() != 2)
      return false;
    stack.h = e.native(states[0].val);
    stack.c = e.native(states[1].val);
  } else {
    stack.h = n.in("hx");
  }
  std::vector<Item> all = n.items("params");
  auto count = size_t(stack.layers * stack.directions);
  if (n.failed() || count == 0 || all.size() % count != 0) {
    n.fail("it has another number of parameters");
    return false;
  }
  size_t each = all.size() / count, expected = hasBiases ? 4 : 2;
  if (each != expected && each != expected + 1) {
    n.fail("it has another number of parameters");
    return false;
  }
  for (size_t i = 0; i != count; ++i) {
    auto at = [&](size_t index) { return e.native(all[i * each + index].val); };
    LayerWeights own{at(0), at(1), {}, {}, {}};
    if (hasBiases) {
      own.inputBias = at(2);
      own.hiddenBias = at(3);
    }
    if (each != expected)
      own.projection = at(expected);
    stack.weights.push_back(own);
  }
  if (stack.x.rank() == 2) {
    stack.isSingle = true;
    stack.x = e.reshape(stack.x, {stack.x.dim(0), 1, stack.x.dim(1)});
    stack.h = e.reshape(stack.h, {stack.h.dim(0), 1, stack.h.dim(1)});
    if (stack.c)
      stack.c = e.reshape(stack.c, {stack.c.dim(0), 1, stack.c.dim(1)});
  } else if (stack.batchFirst) {
    stack.x = e.transpose(stack.x, {1, 0, 2});
  }
  return stack.x && stack.h;
}

/// The blocks of `size` rows in another order: ONNX's.
static Val reordered(Emitter &e, Val x, int64_t size,
                     llvm::ArrayRef<int64_t> order) {
  Vals parts;
  for (int64_t block : order)
    parts.push_back(e.slice(x, 0, block * size, (block + 1) * size));
  return e.concat(parts, 0);
}

/// Both directions of a layer as an operator of ONNX, whose gates have `order`.
static void runStack(Node &n, Stack &stack, llvm::StringLiteral op,
                     llvm::ArrayRef<int64_t> order) {
  Emitter &e = n.e;
  Val x = stack.x;
  Vals hs, cs;
  auto directions = stack.directions;
  for (int64_t layer = 0; layer != stack.layers; ++layer) {
    Vals inputs, hiddens, biases;
    int64_t first = layer * directions;
    for (int64_t i = 0; i != directions; ++i) {
      const LayerWeights &own = stack.weights[size_t(first + i)];
      if (own.projection)
        return n.fail("projections have no counterpart");
      int64_t size = own.hidden.dim(1);
      auto arranged = [&](Val x) {
        Val all = reordered(e, x, size, order);
        Shape shape = {1};
        llvm::append_range(shape, all.shape());
        return e.reshape(all, shape);
      };
      inputs.push_back(arranged(own.input));
      hiddens.push_back(arranged(own.hidden));
      if (own.inputBias)
        biases.push_back(
            e.concat({arranged(own.inputBias), arranged(own.hiddenBias)}, 1));
    }
    OnnxNode node(n, op);
    node.in(x).in(e.concat(inputs, 0)).in(e.concat(hiddens, 0));
    node.in(biases.empty() ? Val() : e.concat(biases, 0)).in(Val());
    node.in(e.slice(stack.h, 0, first, first + directions));
    if (stack.c)
      node.in(e.slice(stack.c, 0, first, first + directions));
    node.attr("hidden_size", stack.weights[size_t(first)].hidden.dim(1));
    if (directions == 2)
      node.attr("direction", StringRef("bidirectional"));
    if (op == "GRU")
      node.attr("linear_before_reset", 1);
    Vals results = node.run(stack.c ? 3 : 2);
    if (!results[0])
      return;
    // [steps, directions, batch, hidden].
    Val all = e.transpose(results[0], {0, 2, 1, 3});
    x = e.reshape(all, {all.dim(0), all.dim(1), all.dim(2) * all.dim(3)});
    hs.push_back(results[1]);
    if (stack.c)
      cs.push_back(results[2]);
  }
  auto whole = [&](Vals &parts) {
    Val all = e.concat(parts, 0);
    return stack.isSingle ? e.reshape(all, {all.dim(0), all.dim(2)}) : all;
  };
  if (stack.isSingle)
    x = e.reshape(x, {x.dim(0), x.dim(2)});
  else if (stack.batchFirst)
    x = e.transpose(x, {1, 0, 2});
  n.out(0, x);
  n.out(1, whole(hs));
  if (stack.c)
    n.out(2, whole(cs));
}

/// PyTorch has the gates i, f, g, o, ONNX i, o, f, g.
static constexpr int64_t lstmOrder[] = {0, 3, 1, 2};
/// r, z, n and z, r, n.
static constexpr int64_t gruOrder[] = {1, 0, 2};
static constexpr int64_t rnnOrder[] = {0};

static void lstm(Node &n) {
  Stack stack;
  if (readStack(n, stack, true))
    runStack(n, stack, "LSTM", lstmOrder);
}

static void gru(Node &n) {
  Stack stack;
  if (readStack(n, stack, false))
    runStack(n, stack, "GRU", gruOrder);
}

/// Step by step, each layer and direction: h = max(0, W x + b + V h + c).
static void rnnRelu(Node &n) {
  Emitter &e = n.e;
  Stack stack;
  constexpr int64_t longest = 1024;
  if (!readStack(n, stack, false))
    return;
  int64_t steps = stack.x.dim(0);
  if (steps > longest)
    return n.fail("of more than " + llvm::Twine(longest) + " steps");
  Val x = stack.x;
  Vals last;
  for (size_t i = 0; i != stack.weights.size();) {
    Vals sides;
    for (int64_t side = 0; side != stack.directions; ++side, ++i) {
      const LayerWeights &own = stack.weights[i];
      Val inputs = e.matmul(x, own.input, false, true);
      if (own.inputBias)
        inputs = e.add(e.add(inputs, own.inputBias), own.hiddenBias);
      Val h = e.slice(stack.h, 0, int64_t(i), int64_t(i) + 1);
      Vals outputs;
      for (int64_t step = 0; step != steps; ++step) {
        int64_t at = side == 0 ? step : steps - 1 - step;
        Val recurrent = e.matmul(h, own.hidden, false, true);
        h = e.unary(ops::Relu,
                    e.add(e.slice(inputs, 0, at, at + 1), recurrent));
        if (!h)
          return;
        outputs.push_back(h);
      }
      if (side == 1)
        std::reverse(outputs.begin(), outputs.end());
      sides.push_back(e.concat(outputs, 0));
      last.push_back(h);
    }
    x = e.concat(sides, 2);
  }
  Val states = e.concat(last, 0);
  if (stack.isSingle) {
    x = e.reshape(x, {x.dim(0), x.dim(2)});
    states = e.reshape(states, {states.dim(0), states.dim(2)});
  } else if (stack.batchFirst) {
    x = e.transpose(x, {1, 0, 2});
  }
  n.out(0, x);
  n.out(1, states);
}

static void rnnTanh(Node &n) {
  Stack stack;
  if (readStack(n, stack, false))
    runStack(n, stack, "RNN", rnnOrder);
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// x W^T + b.
static Val gatesOf(Node &n, Val x, StringRef weight, StringRef bias) {
  Val product = n.e.matmul(x, n.in(weight), false, true);
  return n.has(bias) ? n.e.add(product, n.in(bias)) : product;
}

static Val gate(Emitter &e, Val gates, int64_t index, int64_t size) {
  return e.slice(gates, -1, index * size, (index + 1) * size);
}

static void lstmCell(Node &n) {
  Emitter &e = n.e;
  std::vector<Item> states = n.items("hx");
  Val x = n.in("input");
  if (n.failed() || states.size() != 2)
    return;
  Val h = e.native(states[0].val), c = e.native(states[1].val);
  Val ofInput = gatesOf(n, x, "w_ih", "b_ih");
  Val ofHidden = gatesOf(n, h, "w_hh", "b_hh");
  Val all = e.add(ofInput, ofHidden);
  int64_t size = h.dim(-1);
  Val i = e.unary(ops::Sigmoid, gate(e, all, 0, size));
  Val f = e.unary(ops::Sigmoid, gate(e, all, 1, size));
  Val g = e.unary(ops::Tanh, gate(e, all, 2, size));
  Val o = e.unary(ops::Sigmoid, gate(e, all, 3, size));
  Val kept = e.mul(f, c);
  Val next = e.add(kept, e.mul(i, g));
  n.out(0, e.mul(o, e.unary(ops::Tanh, next)));
  n.out(1, next);
}

static void gruCell(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("input"), h = n.in("hx");
  if (n.failed() || !x || !h)
    return;
  Val ofInput = gatesOf(n, x, "w_ih", "b_ih");
  Val ofHidden = gatesOf(n, h, "w_hh", "b_hh");
  int64_t size = h.dim(-1);
  auto sum = [&](int64_t index) {
    Val left = gate(e, ofInput, index, size);
    return e.add(left, gate(e, ofHidden, index, size));
  };
  Val reset = e.unary(ops::Sigmoid, sum(0));
  Val update = e.unary(ops::Sigmoid, sum(1));
  Val hidden = e.mul(reset, gate(e, ofHidden, 2, size));
  Val candidate = e.unary(ops::Tanh, e.add(gate(e, ofInput, 2, size), hidden));
  n.out(e.add(candidate, e.mul(update, e.sub(h, candidate))));
}

template <const OpDef &Def>
static void rnnCell(Node &n) {
  Val x = n.in("input"), h = n.in("hx");
  Val ofInput = gatesOf(n, x, "w_ih", "b_ih");
  Val ofHidden = gatesOf(n, h, "w_hh", "b_hh");
  n.out(n.e.unary(Def, n.e.add(ofInput, ofHidden)));
}

static constexpr OpRow recurrentTable[] = {
    {"aten.gru.input", gru},
    {"aten.gru_cell.default", gruCell},
    {"aten.lstm.input", lstm, "not with projections"},
    {"aten.lstm_cell.default", lstmCell},
    {"aten.rnn_relu.input", rnnRelu, "of up to 1024 steps"},
    {"aten.rnn_relu_cell.default", rnnCell<ops::Relu>},
    {"aten.rnn_tanh.input", rnnTanh},
    {"aten.rnn_tanh_cell.default", rnnCell<ops::Tanh>},
};

llvm::ArrayRef<OpRow> torch::recurrentRows() { return recurrentTable; }
