//===- GroupQueryAttention.cpp - attention with shared heads --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Attention of language models as onnxruntime has it: heads of queries that
/// share keys, rotated by their positions, and a cache of earlier ones.
///
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "../Ops/Attention.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Scatter.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

namespace {
/// A cache of keys or values, [batch, heads, positions, width], and where new
/// positions go: from `first` on, or after its end if it is missing.
struct Places {
  int64_t length = 0; ///< of the cache afterwards
  Val first;          ///< int32 [batch]
};
} // namespace

/// The cache with `fresh` positions written.
static Val written(Emitter &e, Val past, Val fresh, const Places &places) {
  if (!past)
    return fresh;
  if (!places.first)
    return e.concat({past, fresh}, 2);
  int64_t batch = fresh.dim(0), count = fresh.dim(2);
  int64_t missing = places.length - past.dim(2);
  Val cache = past;
  if (missing > 0) {
    Shape rest = past.shape();
    rest[2] = missing;
    cache = e.concat({past, e.filled(past.dtype(), rest, 0)}, 2);
  }
  // Rows of [batch, positions, ...]: batch and position.
  std::vector<double> ofBatch, ofCount;
  for (int64_t b = 0; b != batch; ++b)
    for (int64_t i = 0; i != count; ++i) {
      ofBatch.push_back(double(b));
      ofCount.push_back(double(i));
    }
  auto table = [&](const std::vector<double> &numbers) {
    return e.constant(
        Constant::fromDoubles({DType::Int32, {batch, count}}, numbers));
  };
  Val counts = table(ofCount);
  Val at = e.add(e.reshape(places.first, {batch, 1}), counts);
  Val rows = e.make(ops::Stack, {table(ofBatch), at}, {{param::axis, -1}});
  Val result = e.make(ops::ScatterNd,
                      {e.transpose(cache, {0, 2, 1, 3}), rows,
                       e.transpose(fresh, {0, 2, 1, 3})},
                      {{param::scatterMode, ScatterMode::Update}});
  return e.transpose(result, {0, 2, 1, 3});
}

/// The root of the mean of squares of each head becomes 1, times a weight.
static Val normalizedHeads(Emitter &e, Val x, Val weight, double epsilon) {
  Val wide = e.cast(x, DType::FP32);
  Val mean = e.reduce(ops::ReduceMean, e.mul(wide, wide), {3}, true);
  Val root = e.unary(ops::Sqrt, e.add(mean, epsilon));
  return e.mul(e.cast(e.div(wide, root), x.dtype()), weight);
}

/// Reports what has no counterpart; returns false then.
static bool checkGroups(Node &node) {
  static constexpr std::pair<size_t, llvm::StringLiteral> inputs[] = {
      {9, "`position_ids`"},
      {12, "a quantized cache"},
      {13, "a quantized cache"},
      {16, "`query_seqlens`"}};
  for (const auto &[input, what] : inputs)
    if (node.has(input))
      node.refuse(what);
  if (node.attr("sliding_window_cache", 0) != 0)
    node.refuse("`sliding_window_cache`");
  if (node.attrText("k_quant_type", "NONE") != "NONE" ||
      node.attrText("v_quant_type", "NONE") != "NONE")
    node.refuse("a quantized cache");
  if (node.attr("qk_output", 0) != 0 || node.wants(3))
    node.refuse("the scores as a result");
  return !node.failed();
}

/// Queries, keys and values by head, from three inputs or one.
static void readGroups(Node &node, int64_t heads, int64_t shared,
                       AttentionTerms &terms) {
  Emitter &e = node.e;
  Val query = node.in(0), key = node.maybe(1), value = node.maybe(2);
  if (node.failed())
    return;
  if (query.rank() != 3 || heads < 1 || shared < 1 || heads % shared != 0)
    return node.fail("queries must be [batch, positions, width], and "
                     "`kv_num_heads` divide `num_heads`");
  if (!key) {
    int64_t width = query.dim(2) / (heads + 2 * shared);
    if (width * (heads + 2 * shared) != query.dim(2))
      return node.fail("the heads must divide the last axis of the input");
    int64_t begin = heads * width, middle = begin + shared * width;
    key = e.slice(query, 2, begin, middle);
    value = e.slice(query, 2, middle, query.dim(2));
    query = e.slice(query, 2, 0, begin);
  }
  if (!key || !value || query.dim(2) % heads != 0 || key.dim(2) % shared != 0 ||
      value.dim(2) % shared != 0)
    return node.fail("the heads must divide the last axis of the inputs");
  terms.query = splitHeads(e, query, heads);
  terms.key = splitHeads(e, key, shared);
  terms.value = splitHeads(e, value, shared);
  if (node.has(14) && node.has(15)) {
    double both = node.attrNumber("qk_norm_epsilon", 1e-6);
    auto own = [&](StringRef name) {
      return node.hasAttr(name) ? node.attrNumber(name, both) : both;
    };
    terms.query =
        normalizedHeads(e, terms.query, node.in(14), own("q_norm_epsilon"));
    terms.key =
        normalizedHeads(e, terms.key, node.in(15), own("k_norm_epsilon"));
  }
}

/// Where new positions begin: `seqlens_k` is the last of each sequence.
static Places placesOf(Node &node, int64_t batch, int64_t fresh,
                       int64_t before) {
  Emitter &e = node.e;
  Places places;
  Val last = e.reshape(node.in(5), {batch});
  // The length of the result.
  int64_t total = node.integer(6);
  if (node.failed())
    return places;
  places.length = std::max(total, before);
  if (fresh == total || before == 0)
    places.first = e.filled(DType::Int32, {batch}, 0);
  else {
    Val start = e.scalar(DType::Int32, double(1 - fresh));
    places.first = e.add(e.cast(last, DType::Int32), start);
  }
  ConstantRef known = e.known(places.first);
  if (known && before + fresh == places.length &&
      llvm::all_of(known->asInts(),
                   [&](int64_t first) { return first == before; }))
    places.first = {};
  return places;
}

static void rotateHeads(Node &node, AttentionTerms &terms, const Places &places,
                        int64_t before) {
  Emitter &e = node.e;
  Val cosines = node.in(7), sines = node.in(8);
  if (node.failed())
    return;
  int64_t fresh = terms.query.dim(2), width = 2 * cosines.dim(1);
  if (cosines.rank() != 2 || sines.shape() != cosines.shape() ||
      width > terms.query.dim(3) || before + fresh > cosines.dim(0))
    return node.fail("the caches of angles do not match the positions");
  std::vector<double> counts;
  for (int64_t i = 0; i != fresh; ++i)
    counts.push_back(double(i) + (places.first ? 0 : double(before)));
  Val at =
      e.constant(Constant::fromDoubles({DType::Int32, {1, fresh}}, counts));
  if (places.first)
    at = e.add(e.reshape(places.first, {places.first.size(), 1}), at);
  Val own = e.gather(cosines, at, 0), other = e.gather(sines, at, 0);
  bool neighbors = node.attr("rotary_interleaved", 0) != 0;
  terms.query = rotated(e, terms.query, own, other, width, neighbors);
  terms.key = rotated(e, terms.key, own, other, width, neighbors);
}

/// The score beside those of the keys, which `smooth_softmax` says is 0.
static Val sinkOf(Node &node, int64_t heads) {
  Val sink = node.maybe(11);
  bool isSmooth = node.attr("smooth_softmax", -1) > 0;
  if (sink && sink.shape() != Shape{heads})
    node.fail("`head_sink` must have a number for each head");
  return sink || !isSmooth ? sink : node.e.filled(DType::FP32, {heads}, 0);
}

static void groupQueryAttention(Node &node) {
  node.ignore("kv_cache_bit_width");
  Emitter &e = node.e;
  int64_t heads = node.attr("num_heads", 0),
          shared = node.attr("kv_num_heads", 0);
  if (!checkGroups(node))
    return;
  AttentionTerms terms;
  readGroups(node, heads, shared, terms);
  if (node.failed() || !terms.query)
    return;
  Val pastKey = node.maybe(3), pastValue = node.maybe(4);
  int64_t batch = terms.query.dim(0), fresh = terms.query.dim(2);
  int64_t before = pastKey ? pastKey.dim(2) : 0;
  Places places = placesOf(node, batch, fresh, before);
  if (node.failed())
    return;
  if (node.attr("do_rotary", 0) != 0)
    rotateHeads(node, terms, places, before);
  terms.key = written(e, pastKey, terms.key, places);
  terms.value = written(e, pastValue, terms.value, places);
  if (node.failed() || !terms.key || !terms.value)
    return;
  int64_t keys = terms.key.dim(2);
  Reach reach;
  if (node.attr("causal", 1) != 0)
    reach.right = 0;
  int64_t window = node.attr("local_window_size", -1);
  // The size counts the query's own position.
  if (window == 0)
    return node.refuse("a `local_window_size` of 0");
  if (window > 0)
    reach.left = window - 1;
  Val ends = places.first
                 ? e.add(places.first, e.scalar(DType::Int32, double(fresh)))
                 : Val();
  if (reach.isLimited())
    terms.keeps = ends ? seenKeys(node, fresh, keys, ends, reach)
                       : seenKeys(node, fresh, keys, before, reach);
  else if (ends)
    terms.keeps = firstKeys(node, keys, ends);
  terms.bias = node.maybe(10);
  terms.scale = node.attrNumber(
      "scale", 1 / std::sqrt(double(std::max<int64_t>(terms.query.dim(3), 1))));
  terms.softcap = node.attrNumber("softcap", 0);
  terms.sink = sinkOf(node, heads);
  if (node.failed())
    return;
  AttentionResults results = attend(e, terms);
  if (!results.output)
    return;
  node.out(joinHeads(e, results.output));
  node.out(1, terms.key);
  node.out(2, terms.value);
}

static constexpr OpRow microsoftGroupQueryTable[] = {
    {"GroupQueryAttention", groupQueryAttention, 1,
     "`total_sequence_length` must be known; not quantized caches"},
};

llvm::ArrayRef<OpRow> onnx::microsoftGroupQueryRows() {
  return microsoftGroupQueryTable;
}
