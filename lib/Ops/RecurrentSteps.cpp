//===- RecurrentSteps.cpp - recurrent layers step by step -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RecurrentSteps.h"
#include "Decompose.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Recurrent.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

using namespace anec;

namespace {

/// Ops on values of one layer, in the element type of x.
class Steps {
public:
  Steps(Builder &builder, const Op &op)
      : d(builder, op), op(op), dtype(op.operand(param::x)->type.dtype) {}

  int64_t count() const { return op.operand(param::x)->type.shape[0]; }
  int64_t batch() const { return op.operand(param::x)->type.shape[1]; }

  /// Elements [first, first + count) of the last axis of x [rows, columns].
  Value *columns(Value *x, int64_t first, int64_t count) {
    int64_t rows = x->type.shape[0];
    if (x->type.shape[1] == count)
      return x;
    return d.make(ops::SliceBySize, {x},
                  {Attr(param::begin, Shape{0, first}),
                   Attr(param::size, Shape{rows, count})},
                  "part");
  }
  /// `count` elements or rows of a weight, from the index `first` on.
  Value *rows(Value *x, int64_t first, int64_t count) {
    Shape begin(x->type.rank(), 0), size = x->type.shape;
    begin[0] = first;
    size[0] = count;
    return d.make(ops::SliceBySize, {x},
                  {Attr(param::begin, begin), Attr(param::size, size)}, "part");
  }
  /// x [batch, inputs] of step t.
  Value *input(int64_t t) {
    Value *x = op.operand(param::x);
    int64_t inputs = x->type.shape[2];
    Value *part = d.make(ops::SliceBySize, {x},
                         {Attr(param::begin, Shape{t, 0, 0}),
                          Attr(param::size, Shape{1, batch(), inputs})},
                         "x");
    return d.reshape(part, {batch(), inputs}, "x");
  }
  /// x [batch, n] of each step as [steps, batch, n].
  Value *sequence(llvm::ArrayRef<Value *> states) {
    llvm::SmallVector<Value *, 16> all;
    for (Value *state : states)
      all.push_back(d.reshape(
          state, {1, state->type.shape[0], state->type.shape[1]}, "state"));
    return joined(all, 0);
  }
  Value *joined(llvm::ArrayRef<Value *> parts, int64_t axis) {
    return parts.size() == 1 ? parts.front()
                             : d.make(ops::Concat, parts,
                                      {Attr(param::axis, axis),
                                       Attr(param::interleave, false)},
                                      "joined");
  }

  /// x w^T + b, where a bias that is absent is null.
  Value *linear(Value *x, Value *weight, Value *bias) {
    Value *product =
        d.make(ops::Matmul, {x, weight}, Attr(param::transposeY, true), "sum");
    return bias ? add(product, bias) : product;
  }
  Value *add(Value *a, Value *b) { return d.make(ops::Add, {a, b}, "sum"); }
  Value *mul(Value *a, Value *b) { return d.make(ops::Mul, {a, b}, "product"); }
  Value *sub(Value *a, Value *b) {
    return d.make(ops::Sub, {a, b}, "difference");
  }
  Value *clip(Value *x, double low, double high) {
    return d.make(ops::Clip, {x},
                  {Attr(param::alpha, Constant::scalar(dtype, low)),
                   Attr(param::beta, Constant::scalar(dtype, high))},
                  "limited");
  }
  Value *activation(const ModeParam<GateActivation> &param, Value *x);

private:
  Value *scaled(Value *x, double factor) {
    return mul(x, d.scalar(factor, "factor"));
  }

  Decomposition d;
  const Op &op;
  DType dtype;
};

} // namespace

/// See Recurrent.cpp.
Value *Steps::activation(const ModeParam<GateActivation> &param, Value *x) {
  switch (op.get(param)) {
  case GateActivation::Linear:
    return x;
  case GateActivation::Relu:
    return d.make(ops::Relu, {x}, "active");
  case GateActivation::ScaledTanh:
    return scaled(d.make(ops::Tanh, {scaled(x, 2.0 / 3)}, "active"), 1.7159);
  case GateActivation::Sigmoid:
    return d.make(ops::Sigmoid, {x}, "active");
  case GateActivation::SigmoidHard: {
    // One after the other: the order of arguments differs among compilers.
    Value *slope = scaled(x, 0.2), *half = d.scalar(0.5, "half");
    return clip(add(slope, half), 0, 1);
  }
  case GateActivation::Tanh:
    return d.make(ops::Tanh, {x}, "active");
  }
  llvm_unreachable("an activation without an op");
}

/// The index of step `number` in the sequence.
static int64_t place(const Op &op, int64_t number, bool isReverse) {
  return isReverse ? op.operand(param::x)->type.shape[0] - 1 - number : number;
}

/// The states of each step, in the order of the sequence, and the last one.
static void finish(Steps &s, const Op &op, bool isReverse,
                   llvm::SmallVectorImpl<Value *> &states,
                   llvm::SmallVectorImpl<Value *> &results) {
  Value *last = states.back();
  if (isReverse)
    std::reverse(states.begin(), states.end());
  bool isWhole = op.get(param::outputSequence);
  results.push_back(isWhole ? s.sequence(states) : s.sequence(last));
  results.push_back(last);
}

//===----------------------------------------------------------------------===//
// lstm
//===----------------------------------------------------------------------===//

namespace {
/// The weights of one direction; those that are absent are null.
struct LstmWeights {
  Value *ofInput, *ofState, *bias, *peephole;
};
} // namespace

/// One direction, whose states are columns from `first` on of those of the op.
static void unrollDirection(Steps &s, const Op &op, const LstmWeights &weights,
                            bool isReverse, int64_t first,
                            llvm::SmallVectorImpl<Value *> &results) {
  int64_t hidden = weights.ofState->type.shape[1];
  Value *h = s.columns(op.operand(param::initialH), first, hidden);
  Value *c = s.columns(op.operand(param::initialC), first, hidden);
  std::optional<double> limit;
  if (op.constant(param::clip))
    limit = std::fabs(op.get(param::clip));
  llvm::SmallVector<Value *, 3> peepholes(3, nullptr);
  for (unsigned i = 0; weights.peephole && i < 3; ++i)
    peepholes[i] = s.rows(weights.peephole, i * hidden, hidden);
  llvm::SmallVector<Value *, 16> states;
  for (int64_t number = 0; number < s.count(); ++number) {
    Value *x = s.input(place(op, number, isReverse));
    Value *fromInput = s.linear(x, weights.ofInput, weights.bias);
    Value *sums = s.add(fromInput, s.linear(h, weights.ofState, nullptr));
    auto sum = [&](unsigned gate, Value *seen) {
      Value *part = s.columns(sums, gate * hidden, hidden);
      if (gate < 3 && peepholes[gate])
        part = s.add(part, s.mul(peepholes[gate], seen));
      return limit ? s.clip(part, -*limit, *limit) : part;
    };
    Value *in = s.activation(param::recurrentActivation, sum(0, c));
    Value *forget = s.activation(param::recurrentActivation, sum(1, c));
    Value *update = s.activation(param::cellActivation, sum(3, nullptr));
    Value *kept = s.mul(forget, c);
    c = s.add(kept, s.mul(in, update));
    Value *out = s.activation(param::recurrentActivation, sum(2, c));
    h = s.mul(out, s.activation(param::activation, c));
    states.push_back(h);
  }
  finish(s, op, isReverse, states, results);
  results.push_back(c);
}

void anec::unrollLstm(Builder &builder, const Op &op,
                      llvm::SmallVectorImpl<Value *> &results) {
  Steps s(builder, op);
  RnnDirection direction = op.get(param::direction);
  LstmWeights weights{op.operand(param::weightIh), op.operand(param::weightHh),
                      op.operand(param::bias), op.operand(param::peephole)};
  bool isReverse = direction == RnnDirection::Reverse;
  unrollDirection(s, op, weights, isReverse, 0, results);
  if (direction != RnnDirection::Bidirectional)
    return;
  LstmWeights back{op.operand(param::weightIhBack),
                   op.operand(param::weightHhBack), op.operand(param::biasBack),
                   op.operand(param::peepholeBack)};
  llvm::SmallVector<Value *, 3> others;
  unrollDirection(s, op, back, true, weights.ofState->type.shape[1], others);
  for (auto [result, other] : llvm::zip_equal(results, others))
    result = s.joined({result, other}, result->type.rank() - 1);
}

//===----------------------------------------------------------------------===//
// gru
//===----------------------------------------------------------------------===//

void anec::unrollGru(Builder &builder, const Op &op,
                     llvm::SmallVectorImpl<Value *> &results) {
  Steps s(builder, op);
  Value *weight = op.operand(param::weightHh), *bias = op.operand(param::bias);
  int64_t hidden = weight->type.shape[1];
  bool isReverse = op.get(param::direction) == RnnDirection::Reverse;
  bool resetAfter = op.get(param::resetAfter);
  // Gates r, o, z: without `reset_after`, o has a product of its own.
  Value *ofCandidate = nullptr, *biasOfCandidate = nullptr;
  if (!resetAfter) {
    ofCandidate = s.rows(weight, hidden, hidden);
    biasOfCandidate = bias ? s.rows(bias, hidden, hidden) : nullptr;
  }
  Value *h = op.operand(param::initialH);
  llvm::SmallVector<Value *, 16> states;
  for (int64_t number = 0; number < s.count(); ++number) {
    Value *fromInput =
        s.linear(s.input(place(op, number, isReverse)),
                 op.operand(param::weightIh), op.operand(param::inputBias));
    Value *fromState = s.linear(h, weight, bias);
    auto gate = [&](unsigned gate) {
      Value *part = s.columns(fromInput, gate * hidden, hidden);
      part = s.add(part, s.columns(fromState, gate * hidden, hidden));
      return s.activation(param::recurrentActivation, part);
    };
    Value *reset = gate(0), *update = gate(2);
    Value *candidate =
        resetAfter ? s.mul(reset, s.columns(fromState, hidden, hidden))
                   : s.linear(s.mul(reset, h), ofCandidate, biasOfCandidate);
    Value *sum = s.add(s.columns(fromInput, hidden, hidden), candidate);
    Value *fresh = s.activation(param::activation, sum);
    h = s.add(fresh, s.mul(update, s.sub(h, fresh)));
    states.push_back(h);
  }
  finish(s, op, isReverse, states, results);
}

//===----------------------------------------------------------------------===//
// rnn
//===----------------------------------------------------------------------===//

void anec::unrollRnn(Builder &builder, const Op &op,
                     llvm::SmallVectorImpl<Value *> &results) {
  Steps s(builder, op);
  bool isReverse = op.get(param::direction) == RnnDirection::Reverse;
  Value *h = op.operand(param::initialH);
  llvm::SmallVector<Value *, 16> states;
  for (int64_t number = 0; number < s.count(); ++number) {
    Value *sum = s.linear(s.input(place(op, number, isReverse)),
                          op.operand(param::weightIh), op.operand(param::bias));
    sum = s.add(sum, s.linear(h, op.operand(param::weightHh), nullptr));
    h = s.activation(param::activation, sum);
    states.push_back(h);
  }
  finish(s, op, isReverse, states, results);
}
