//===- Attention.cpp - attention of onnxruntime ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Ops/Attention.h"
#include "../Families.h"
#include "../Ops/Quantized.h"
#include "anec/IR/Params.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

static double scaleOf(Node &node, int64_t width) {
  double given = node.attrNumber("scale", 0);
  return given != 0 ? given
                    : 1 / std::sqrt(double(std::max<int64_t>(width, 1)));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// What the mask `at` adds to the scores: `mask_filter_value` where it is 0.
/// A vector has the numbers of keys, and perhaps the first of each, or where
/// sequences begin if they were packed.
static Val maskBias(Node &node, size_t at, int64_t batch, int64_t queries,
                    int64_t keys) {
  Emitter &e = node.e;
  Val mask = node.maybe(at), sees;
  double value = node.attrNumber("mask_filter_value", -10000);
  if (!mask)
    return {};
  const Shape &shape = mask.shape();
  if (shape == Shape{batch} || shape == Shape{2 * batch} ||
      shape == Shape{3 * batch + 2}) {
    sees = firstKeys(node, keys, e.slice(mask, 0, 0, batch));
    if (shape.front() == 2 * batch) {
      Val before = firstKeys(node, keys, e.slice(mask, 0, batch, 2 * batch));
      sees = bothHold(e, sees, e.make(ops::LogicalNot, {before}));
    }
    sees = e.cast(sees, DType::Int32);
  } else if (shape == Shape{batch, keys}) {
    sees = e.reshape(mask, {batch, 1, 1, keys});
  } else if (shape == Shape{batch, queries, keys}) {
    sees = e.reshape(mask, {batch, 1, queries, keys});
  } else {
    node.refuse("a mask of the shape " + shapeToString(shape));
    return {};
  }
  // (1 - mask) * value
  DType dtype = node.in(0).dtype();
  dtype = isFloat(dtype) ? dtype : DType::FP32;
  return e.mul(e.add(e.mul(e.cast(sees, dtype), -1), 1), value);
}

static Val sumOf(Emitter &e, Val first, Val second) {
  return first && second ? e.add(first, second) : first ? first : second;
}

/// The causal limit, of queries that are the last of the positions.
static void limitToBefore(Node &node, AttentionTerms &terms) {
  int64_t queries = terms.query.dim(2), keys = terms.key.dim(2);
  if (node.attr("unidirectional", 0) != 0)
    terms.keeps = seenKeys(node, queries, keys, keys - queries, {-1, 0});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Attention over the product of an input and the weights of all three;
/// `biased` is [batch, positions, sum of widths], `widths` has those of
/// queries, keys and values, and the inputs `mask` and `past` are optional.
static void attendToSelf(Node &node, Val biased, Shape widths, size_t mask,
                         size_t past, Val bias) {
  Emitter &e = node.e;
  int64_t heads = node.attr("num_heads", 0), batch = biased.dim(0);
  if (node.attr("do_rotary", 0) != 0)
    return node.refuse("`do_rotary`");
  if (node.attr("past_present_share_buffer", 0) != 0)
    return node.refuse("caches that share memory, `past_present_share_buffer`");
  if (heads < 1 || widths[0] + widths[1] + widths[2] != biased.dim(2) ||
      llvm::any_of(widths, [&](int64_t width) {
        return width < 1 || width % heads != 0;
      }))
    return node.fail("`num_heads` must divide the widths of the weights");
  auto part = [&](int64_t begin, int64_t width) {
    return splitHeads(e, e.slice(biased, 2, begin, begin + width), heads);
  };
  AttentionTerms terms;
  terms.query = part(0, widths[0]);
  terms.key = part(widths[0], widths[1]);
  terms.value = part(widths[0] + widths[1], widths[2]);
  if (node.has(past)) {
    Val states = node.in(past);
    auto state = [&](int64_t index) {
      Shape shape(states.shape().begin() + 1, states.shape().end());
      return e.reshape(e.slice(states, 0, index, index + 1), shape);
    };
    if (states.rank() != 5 || states.dim(0) != 2)
      return node.fail("`past` must be [2, batch, heads, positions, width]");
    terms.key = e.concat({state(0), terms.key}, 2);
    terms.value = e.concat({state(1), terms.value}, 2);
  }
  int64_t queries = biased.dim(1), keys = terms.key.dim(2);
  terms.scale = scaleOf(node, widths[0] / heads);
  terms.bias = sumOf(e, maskBias(node, mask, batch, queries, keys), bias);
  limitToBefore(node, terms);
  if (node.failed())
    return;
  if (node.wants(1)) {
    Shape one = terms.key.shape();
    if (one != terms.value.shape())
      return node.refuse("states of keys and values of different widths");
    one.insert(one.begin(), 1);
    node.out(
        1,
        e.concat({e.reshape(terms.key, one), e.reshape(terms.value, one)}, 0));
  }
  node.out(joinHeads(e, attend(e, terms).output));
}

static void attention(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), weights = node.in(1);
  Shape widths = node.attrInts("qkv_hidden_sizes");
  if (node.failed())
    return;
  if (x.rank() != 3 || weights.rank() != 2 || x.dim(2) != weights.dim(0))
    return node.fail("the input must be [batch, positions, width], and the "
                     "weights [width, sum of widths]");
  if (widths.empty())
    widths.assign(3, weights.dim(1) / 3);
  if (widths.size() != 3)
    return node.fail("`qkv_hidden_sizes` must have three numbers");
  if (node.has(6))
    return node.refuse("`past_sequence_length`");
  Val biased = e.matmul(x, weights);
  if (node.has(2))
    biased = e.add(biased, node.in(2));
  if (biased)
    attendToSelf(node, biased, widths, 3, 4, node.maybe(5));
}

/// The same of integers: the product is computed before it is scaled.
static void qAttention(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), weights = node.in(1), bias = node.in(2);
  Val xScale = node.in(3), scale = node.in(4);
  Val xZero = node.maybe(6), zero = node.maybe(7);
  if (node.failed())
    return;
  if (x.rank() != 3 || weights.rank() != 2 || x.dim(2) != weights.dim(0) ||
      weights.dim(1) % 3 != 0)
    return node.fail("the input must be [batch, positions, width], and the "
                     "weight [width, 3 * width]");
  Val sum = integerProduct(e, x, xZero, weights, zero);
  Val columns = spread(e, scale, weights, 1);
  Val factor = e.mul(e.reshape(xScale, {}), columns);
  Val biased = e.add(e.mul(sum, factor), bias);
  int64_t width = weights.dim(1) / 3;
  if (biased)
    attendToSelf(node, biased, {width, width, width}, 5, 8, {});
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

/// Entry `index` of the axis before the last of [batch, positions, heads,
/// entries, width], as [batch, heads, positions, width].
static Val packedPart(Emitter &e, Val x, int64_t index) {
  Val part = e.slice(x, 3, index, index + 1);
  part = e.reshape(part, {x.dim(0), x.dim(1), x.dim(2), x.dim(4)});
  return e.transpose(part, {0, 2, 1, 3});
}

/// Queries, keys and values by head; the node has failed if they are not such.
static void readParts(Node &node, int64_t heads, AttentionTerms &terms) {
  Emitter &e = node.e;
  Val query = node.in(0), key = node.maybe(1), value = node.maybe(2);
  Val bias = node.maybe(3);
  if (node.failed())
    return;
  int64_t begin = 0;
  auto byHead = [&](Val x) -> Val {
    if (x.rank() == 4 && x.dim(1) == heads)
      return x;
    if (x.rank() != 3 || x.dim(2) % heads != 0) {
      node.fail("`num_heads` must divide the last axis of the inputs");
      return {};
    }
    if (bias)
      x = e.add(x, e.slice(bias, 0, begin, begin + x.dim(2)));
    begin += x.dim(2);
    return splitHeads(e, x, heads);
  };
  if (query.rank() == 5 && query.dim(3) == 3 && !key) {
    if (bias)
      return node.refuse("a bias of packed inputs");
    terms.query = packedPart(e, query, 0);
    terms.key = packedPart(e, query, 1);
    terms.value = packedPart(e, query, 2);
    return;
  }
  terms.query = byHead(query);
  if (!key || node.failed())
    return key ? void() : node.fail("there are no keys");
  if (key.rank() == 5 && key.dim(3) == 2 && !value) {
    if (bias)
      return node.refuse("a bias of packed inputs");
    terms.key = packedPart(e, key, 0);
    terms.value = packedPart(e, key, 1);
    return;
  }
  if (!value)
    return node.fail("there are no values");
  terms.key = byHead(key);
  terms.value = byHead(value);
}

static void multiHeadAttention(Node &node) {
  Emitter &e = node.e;
  int64_t heads = node.attr("num_heads", 0);
  if (heads < 1)
    return node.fail("`num_heads` must be positive");
  AttentionTerms terms;
  readParts(node, heads, terms);
  if (node.failed() || !terms.key || !terms.value || !terms.query)
    return;
  if (node.has(8) || node.has(9))
    return node.refuse("caches that share memory");
  if (node.has(6) && node.has(7)) {
    terms.key = e.concat({node.in(6), terms.key}, 2);
    terms.value = e.concat({node.in(7), terms.value}, 2);
  }
  if (!terms.key || !terms.value)
    return;
  int64_t batch = terms.query.dim(0), queries = terms.query.dim(2),
          keys = terms.key.dim(2);
  terms.scale = scaleOf(node, terms.query.dim(3));
  Val mask = maskBias(node, 4, batch, queries, keys);
  terms.bias = sumOf(e, mask, node.maybe(5));
  limitToBefore(node, terms);
  if (node.failed())
    return;
  AttentionResults results = attend(e, terms);
  if (!results.output)
    return;
  node.out(joinHeads(e, results.output));
  node.out(1, terms.key);
  node.out(2, terms.value);
  if (node.wants(3))
    node.refuse("the scores as a result");
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Positions are those of each element, or the first of all.
static void rotaryEmbedding(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), positions = node.in(1), cosines = node.in(2),
      sines = node.in(3);
  if (node.failed())
    return;
  // Packed sequences have their positions like all others.
  node.attr("is_packed_batching", 0);
  if (node.attrNumber("scale", 1) != 1)
    return node.refuse("`scale`, which onnxruntime does not apply on "
                       "processors; remove it, or multiply the caches");
  int64_t heads = node.attr("num_heads", 0),
          width = node.attr("rotary_embedding_dim", 0);
  if (cosines.rank() != 2 || sines.shape() != cosines.shape())
    return node.fail("the caches must be [positions, width / 2]");
  width = width == 0 ? 2 * cosines.dim(1) : width;
  bool isFlat = x.rank() == 3;
  if (!isFlat && x.rank() != 4)
    return node.fail("the input must have rank 3 or 4");
  if (isFlat && heads == 0)
    heads = x.dim(2) / std::max<int64_t>(width, 1);
  if (isFlat && (heads < 1 || x.dim(2) % heads != 0))
    return node.fail("`num_heads` must divide the last axis of the input");
  Val split = isFlat ? splitHeads(e, x, heads) : x;
  if (width < 2 || width > split.dim(3) || width / 2 != cosines.dim(1))
    return node.fail("the caches must have a number for each pair");
  positions = e.cast(positions, DType::Int32);
  if (positions.size() == 1 && positions.rank() == 1) {
    std::vector<double> counts;
    for (int64_t i = 0; i != split.dim(2); ++i)
      counts.push_back(double(i));
    Val count = e.constant(
        Constant::fromDoubles({DType::Int32, {1, split.dim(2)}}, counts));
    positions = e.add(e.reshape(positions, {1, 1}), count);
  }
  Val own = e.gather(cosines, positions, 0);
  Val other = e.gather(sines, positions, 0);
  Val result =
      rotated(e, split, own, other, width, node.attr("interleaved", 0) != 0);
  node.out(isFlat ? joinHeads(e, result) : result);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow microsoftAttentionTable[] = {
    {"Attention", attention, 1,
     "caches that do not share memory; not `do_rotary`"},
    {"MultiHeadAttention", multiHeadAttention, 1,
     "caches that do not share memory; not the scores as a result"},
    {"QAttention", qAttention, 1, "caches that do not share memory"},
    {"RotaryEmbedding", rotaryEmbedding, 1, "not `scale`"},
};

llvm::ArrayRef<OpRow> onnx::microsoftAttentionRows() {
  return microsoftAttentionTable;
}
