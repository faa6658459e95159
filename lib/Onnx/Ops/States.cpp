//===- States.cpp - layers that carry a state along a sequence ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Choice.h"
#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

namespace {
/// Silu and Swish are the same.
ANEC_ENUM(ConvActivation, (None, "none"), (Silu, "silu"), (Swish, "swish"))
} // namespace

/// A convolution of each channel over what came before.
static void causalConv(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), weight = node.in(1), bias = node.maybe(2),
      past = node.maybe(3);
  auto activation = choiceOf<ConvActivation>(node, "activation");
  if (node.failed())
    return;
  if (x.rank() != 3 || weight.rank() != 3 || weight.dim(0) != x.dim(1) ||
      weight.dim(1) != 1)
    return node.fail("the input must be [batch, channels, length], and the "
                     "weight [channels, 1, width]");
  int64_t before = weight.dim(2) - 1;
  if (before > 0) {
    Shape state = {x.dim(0), x.dim(1), before};
    if (past && past.shape() != state)
      return node.fail("`past_state` must have the shape " +
                       shapeToString(state));
    x = e.concat({past ? past : e.filled(x.dtype(), state, 0), x}, 2);
  }
  Val result = e.make(
      ops::Conv, {x, weight},
      {{param::padType, PadType::Valid}, {param::groups, weight.dim(0)}});
  if (bias)
    result = e.add(result, e.reshape(bias, {1, bias.size(), 1}));
  node.out(0, activation == ConvActivation::None ? result
                                                 : e.unary(ops::Silu, result));
  if (node.wants(1) && before == 0)
    return node.refuse("a state without elements");
  if (node.wants(1))
    node.out(1, e.slice(x, 2, x.dim(2) - before, x.dim(2)));
}

//===----------------------------------------------------------------------===//
// Linear attention
//===----------------------------------------------------------------------===//

namespace {
/// What a step of linear attention reads, [batch, heads, positions, ...] each.
struct LinearTerms {
  Val query, key, value, decay, beta;
  Val state; ///< [batch, heads of the keys, key width, value width]
};
} // namespace

/// [batch, positions, heads * width] as [batch, heads, positions, width].
static Val byHead(Emitter &e, Val x, int64_t heads) {
  return e.transpose(
      e.reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}),
      {0, 2, 1, 3});
}

/// One position: changes the state, and gives the output [batch, heads of the
/// queries, 1, value width].
static Val stepOf(Emitter &e, LinearTerms &terms, int64_t position) {
  auto at = [&](Val x) { return e.slice(x, 2, position, position + 1); };
  Val key = at(terms.key), value = at(terms.value), query = at(terms.query);
  if (terms.decay) {
    // A factor for each row of the state, or one for all.
    Val factor = e.unary(ops::Exp, at(terms.decay));
    terms.state = e.mul(terms.state, e.transpose(factor, {0, 1, 3, 2}));
  }
  if (terms.beta) {
    Val known = e.matmul(key, terms.state);
    value = e.sub(value, known);
    value = e.mul(value, at(terms.beta));
  }
  terms.state = e.add(terms.state, e.matmul(key, value, true, false));
  int64_t heads = query.dim(1), shared = terms.state.dim(1);
  Val rows =
      e.reshape(query, {query.dim(0), shared, heads / shared, query.dim(3)});
  Val read = e.matmul(rows, terms.state);
  return e.reshape(read, {query.dim(0), heads, 1, terms.state.dim(3)});
}

namespace {
/// What the state keeps, and what is added to it.
ANEC_ENUM(UpdateRule, (GatedDelta, "gated_delta"), (Linear, "linear"),
          (Gated, "gated"), (Delta, "delta"))
} // namespace

static void linearAttention(Node &node) {
  node.ignore("chunk_size");
  Emitter &e = node.e;
  LinearTerms terms;
  Val query = node.in(0), key = node.in(1), value = node.in(2);
  int64_t heads = node.attr("q_num_heads", 0),
          shared = node.attr("kv_num_heads", 0);
  auto rule = choiceOf<UpdateRule>(node, "update_rule");
  if (node.failed())
    return;
  bool isGated = rule == UpdateRule::Gated || rule == UpdateRule::GatedDelta;
  bool isDelta = rule == UpdateRule::Delta || rule == UpdateRule::GatedDelta;
  if (node.has(4) != isGated || node.has(5) != isDelta)
    return node.fail("`decay` and `beta` must be given as `update_rule` says");
  if (query.rank() != 3 || key.rank() != 3 || value.rank() != 3 || heads < 1 ||
      shared < 1 || heads % shared != 0 || query.dim(2) % heads != 0 ||
      key.dim(2) % shared != 0 || value.dim(2) % shared != 0)
    return node.fail("`q_num_heads` and `kv_num_heads` must divide the last "
                     "axis of inputs of rank 3");
  int64_t length = query.dim(1);
  constexpr int64_t longest = 1024;
  if (length > longest)
    return node.refuse("more than " + llvm::Twine(longest) + " positions");
  DType dtype = query.dtype();
  auto split = [&](Val x, int64_t count) {
    return e.cast(byHead(e, x, count), DType::FP32);
  };
  terms.query = split(query, heads);
  terms.key = split(key, shared);
  terms.value = split(value, shared);
  if (isGated)
    terms.decay = split(node.in(4), shared);
  if (isDelta) {
    Val beta = node.in(5);
    terms.beta = split(beta, beta.dim(2) == 1 ? 1 : shared);
  }
  Shape state = {query.dim(0), shared, terms.key.dim(3), terms.value.dim(3)};
  DType stateType = node.has(3) ? node.in(3).dtype() : dtype;
  terms.state = node.has(3) ? e.cast(node.in(3), DType::FP32)
                            : e.filled(DType::FP32, state, 0);
  if (node.failed() || terms.state.shape() != state)
    return node.fail("`past_state` must have the shape " +
                     shapeToString(state));
  double scale = node.attrNumber("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(double(terms.key.dim(3)));
  terms.query = e.mul(terms.query, scale);
  Vals outputs;
  for (int64_t position = 0; position != length; ++position) {
    outputs.push_back(stepOf(e, terms, position));
    if (!outputs.back())
      return;
  }
  Val all = e.transpose(e.concat(outputs, 2), {0, 2, 1, 3});
  all = e.reshape(all, {query.dim(0), length, heads * terms.value.dim(3)});
  node.out(0, e.cast(all, dtype));
  node.out(1, e.cast(terms.state, stateType));
}

static constexpr OpRow stateTable[] = {
    {"CausalConvWithState", causalConv, 27},
    {"LinearAttention", linearAttention, 27, "of up to 1024 positions"},
};

llvm::ArrayRef<OpRow> onnx::stateRows() { return stateTable; }
