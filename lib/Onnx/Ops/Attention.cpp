//===- Attention.cpp - attention, positions and caches --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "../Choice.h"
#include "../Families.h"
#include "AlongAxis.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Scatter.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Reads queries, keys and values as [batch, heads, positions, width]. Returns
/// false after an error.
static bool readHeads(Node &node, AttentionTerms &terms) {
  Emitter &e = node.e;
  terms.query = node.in(0);
  terms.key = node.in(1);
  terms.value = node.in(2);
  if (node.failed())
    return false;
  int64_t rank = terms.query.rank();
  if ((rank != 3 && rank != 4) || terms.key.rank() != rank ||
      terms.value.rank() != rank) {
    node.fail("queries, keys and values must all have rank 3 or 4");
    return false;
  }
  if (rank == 3) {
    int64_t heads = node.attr("q_num_heads", 0),
            shared = node.attr("kv_num_heads", 0);
    if (heads < 1 || shared < 1 || terms.query.dim(2) % heads != 0 ||
        terms.key.dim(2) % shared != 0 || terms.value.dim(2) % shared != 0) {
      node.fail("`q_num_heads` and `kv_num_heads` must divide the last axis of "
                "inputs of rank 3");
      return false;
    }
    terms.query = splitHeads(e, terms.query, heads);
    terms.key = splitHeads(e, terms.key, shared);
    terms.value = splitHeads(e, terms.value, shared);
  } else {
    // They repeat what the shapes say.
    node.attr("q_num_heads", 0);
    node.attr("kv_num_heads", 0);
  }
  if (node.has(4) != node.has(5)) {
    node.fail("`past_key` and `past_value` belong together");
    return false;
  }
  if (node.has(4)) {
    terms.key = e.concat({node.in(4), terms.key}, 2);
    terms.value = e.concat({node.in(5), terms.value}, 2);
  }
  if (!terms.key || !terms.value)
    return false;
  if (terms.key.dim(1) < 1 || terms.query.dim(1) % terms.key.dim(1) != 0 ||
      terms.key.dim(1) != terms.value.dim(1)) {
    node.fail("the heads of the queries must be a multiple of those of keys "
              "and values");
    return false;
  }
  if (terms.key.dim(2) != terms.value.dim(2) ||
      terms.query.dim(3) != terms.key.dim(3)) {
    node.fail("queries, keys and values do not match");
    return false;
  }
  return !node.failed();
}

/// The mask input, with more keys at its end where it has fewer than there are.
static void readMask(Node &node, AttentionTerms &terms, int64_t keys) {
  Emitter &e = node.e;
  Val mask = node.maybe(3);
  if (!mask)
    return;
  bool isBool = mask.dtype() == DType::Bool;
  if (mask.rank() > 0 && mask.dim(-1) != 1 && mask.dim(-1) < keys) {
    Shape missing = mask.shape();
    missing.back() = keys - mask.dim(-1);
    Val rest = e.filled(mask.dtype(), missing, isBool ? 0 : -INFINITY);
    mask = e.concat({mask, rest}, -1);
  }
  (isBool ? terms.keeps : terms.bias) = mask;
}

/// Takes what causality, windows and lengths exclude out of the keys.
static void limitKeys(Node &node, AttentionTerms &terms) {
  Emitter &e = node.e;
  int64_t queries = terms.query.dim(2), keys = terms.key.dim(2);
  bool isCausal = node.attr("is_causal", 0) != 0;
  Reach window;
  if (node.opset() >= 25)
    window = {node.attr("left_window_size", -1),
              node.attr("right_window_size", -1)};
  if (window.left < -1 || window.right < -1)
    return node.fail("the sizes of a window must be at least -1");
  if (isCausal)
    window.right = 0;
  Val lengths = node.maybe(6);
  if (lengths && node.has(4))
    return node.fail("`nonpad_kv_seqlen` does not go with `past_key`");
  if (window.isLimited()) {
    int64_t before = node.has(4) ? node.in(4).dim(2) : 0;
    terms.keeps =
        bothHold(e, terms.keeps,
                 lengths ? seenKeys(node, queries, keys, lengths, window)
                         : seenKeys(node, queries, keys, before, window));
  }
  if (lengths)
    terms.keeps = bothHold(e, terms.keeps, firstKeys(node, keys, lengths));
}

static void attention(Node &node) {
  AttentionTerms terms;
  if (!readHeads(node, terms))
    return;
  readMask(node, terms, terms.key.dim(2));
  limitKeys(node, terms);
  double width = double(std::max<int64_t>(terms.query.dim(3), 1));
  terms.scale = node.attrNumber("scale", 1 / std::sqrt(width));
  terms.softcap = node.attrNumber("softcap", 0);
  if (node.hasAttr("softmax_precision")) {
    auto element = proto::ElementType(node.attr("softmax_precision", 1));
    std::optional<DType> dtype = dtypeOf(element);
    if (!dtype || !isFloat(*dtype) || *dtype == DType::BF16)
      return node.refuse("`softmax_precision` " + spelling(element));
    terms.precision = nativeType(*dtype);
  }
  if (node.failed())
    return;
  AttentionResults results = attend(node.e, terms);
  if (!results.output)
    return;
  bool isFlat = node.in(0).rank() == 3;
  node.out(0, isFlat ? joinHeads(node.e, results.output) : results.output);
  node.out(1, terms.key);
  node.out(2, terms.value);
  const Val steps[] = {results.products, results.capped, results.biased,
                       results.weights};
  int64_t step = node.attr("qk_matmul_output_mode", 0);
  if (step < 0 || step > 3)
    return node.fail("`qk_matmul_output_mode` must be 0 to 3");
  node.out(3, steps[step]);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

static void rotaryEmbedding(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), cosines = node.in(1), sines = node.in(2);
  if (node.failed())
    return;
  int64_t heads = node.attr("num_heads", 0);
  bool isFlat = x.rank() == 3;
  if (!isFlat && x.rank() != 4)
    return node.fail("the input must have rank 3 or 4");
  if (isFlat && (heads < 1 || x.dim(2) % heads != 0))
    return node.fail("`num_heads` must divide the last axis of an input of "
                     "rank 3");
  Val split = isFlat ? splitHeads(e, x, heads) : x;
  int64_t width = node.attr("rotary_embedding_dim", 0);
  width = width == 0 ? split.dim(3) : width;
  if (width < 2 || width % 2 != 0 || width > split.dim(3))
    return node.fail("`rotary_embedding_dim` must be even, and at most the "
                     "width of a head");
  if (Val positions = node.maybe(3)) {
    positions = e.cast(positions, DType::Int32);
    cosines = e.gather(cosines, positions, 0);
    sines = e.gather(sines, positions, 0);
  }
  if (cosines.rank() < 2 || cosines.dim(-1) != width / 2 ||
      sines.shape() != cosines.shape())
    return node.fail("the caches must have a number for each pair");
  Val result = rotated(e, split, cosines, sines, width,
                       node.attr("interleaved", 0) != 0);
  node.out(isFlat ? joinHeads(e, result) : result);
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

namespace {
/// Where a cache is written that is full.
ANEC_ENUM(CacheOrder, (Linear, "linear"), (Circular, "circular"))
} // namespace

/// Writes `update` along an axis of a cache, from an index of each batch on.
static void tensorScatter(Node &node) {
  Emitter &e = node.e;
  Val cache = node.in(0), update = node.in(1);
  if (node.failed())
    return;
  int64_t axis = node.axis(-2, cache.rank());
  bool isRing = choiceOf<CacheOrder>(node, "mode") == CacheOrder::Circular;
  if (node.failed())
    return;
  Shape wanted = cache.shape();
  if (axis == 0 || update.rank() != cache.rank())
    return node.fail("the axis must not be that of the batch");
  wanted[size_t(axis)] = update.dim(axis);
  if (wanted != update.shape() || update.dim(axis) > cache.dim(axis))
    return node.fail("the update must fit the cache");
  int64_t batch = cache.dim(0), count = update.dim(axis);
  if (!node.has(2))
    return node.out(
        count == cache.dim(axis)
            ? update
            : e.concat({update, e.slice(cache, axis, count, cache.dim(axis))},
                       axis));
  Val first = e.reshape(e.cast(node.in(2), DType::Int32), {batch, 1});
  Val places = e.add(first, positionsOf(e, {1, count}, 1));
  if (isRing)
    places = e.binary(ops::Mod, places,
                      e.scalar(DType::Int32, double(cache.dim(axis))));
  Val rows = e.make(ops::Stack, {positionsOf(e, {batch, count}, 0), places},
                    {{param::axis, -1}});
  // The axis next to the batch.
  Shape perm = {0, axis};
  for (int64_t other = 1; other != cache.rank(); ++other)
    if (other != axis)
      perm.push_back(other);
  Shape back(perm.size());
  for (auto [place, from] : llvm::enumerate(perm))
    back[size_t(from)] = int64_t(place);
  DType wide = Emitter::wideOf(cache);
  Val target = e.cast(e.transpose(cache, perm), wide);
  Val source = e.cast(e.transpose(update, perm), wide);
  Val written = e.make(ops::ScatterNd, {target, rows, source},
                       {{param::scatterMode, ScatterMode::Update}});
  node.out(e.cast(e.transpose(written, back), cache.dtype()));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow attentionTable[] = {
    {"Attention", attention, 23},
    {"RotaryEmbedding", rotaryEmbedding, 23},
    {"TensorScatter", tensorScatter, 24},
};

llvm::ArrayRef<OpRow> onnx::attentionRows() { return attentionTable; }
