//===- Words.cpp - numbers of sequences in a text -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// How often sequences of ids, which are known, occur in a text.
///
//===----------------------------------------------------------------------===//

#include "../Choice.h"
#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include <algorithm>
#include <vector>

using namespace anec;
using namespace anec::onnx;

namespace {
/// Sequences of `length` ids each, one after the other.
struct Grams {
  int64_t length;
  Shape ids;
  int64_t count() const { return int64_t(ids.size()) / length; }
};
} // namespace

/// The sequences of each length, from 1 on; empty after an error.
static std::vector<Grams> readGrams(Node &node) {
  Shape pool = node.attrInts("pool_int64s"),
        begins = node.attrInts("ngram_counts");
  std::vector<Grams> all;
  for (size_t i = 0; i != begins.size(); ++i) {
    int64_t length = int64_t(i) + 1, size = int64_t(pool.size());
    int64_t end = i + 1 == begins.size() ? size : begins[i + 1];
    if (begins[i] < 0 || begins[i] > end || end > size ||
        (end - begins[i]) % length != 0) {
      node.fail("`ngram_counts` does not match `pool_int64s`");
      return {};
    }
    all.push_back(
        {length, Shape(pool.begin() + begins[i], pool.begin() + end)});
  }
  return all;
}

/// How often each sequence occurs in the rows of `x`, [rows, ids], with `skip`
/// other ids between two of its own: fp32 [rows, sequences].
static Val countOf(Emitter &e, Val x, const Grams &grams, int64_t skip) {
  int64_t places = x.dim(1) - (grams.length - 1) * (skip + 1);
  Val all;
  for (int64_t at = 0; at != grams.length; ++at) {
    std::vector<double> ids;
    for (int64_t gram = 0; gram != grams.count(); ++gram)
      ids.push_back(double(grams.ids[size_t(gram * grams.length + at)]));
    Val own = e.constant(
        Constant::fromDoubles({DType::Int32, {grams.count(), 1}}, ids));
    int64_t begin = at * (skip + 1);
    Val part = e.slice(x, 1, begin, begin + places);
    part = e.reshape(part, {x.dim(0), 1, places});
    Val equal = e.make(ops::Equal, {part, own});
    all = all ? e.make(ops::LogicalAnd, {all, equal}) : equal;
  }
  return e.reduce(ops::ReduceSum, e.cast(all, DType::FP32), {2}, false);
}

/// The numbers of all sequences, fp32 [rows, sequences]: 0 for lengths that are
/// not counted.
static Val countsOf(Node &node, Val x, llvm::ArrayRef<Grams> all) {
  Emitter &e = node.e;
  int64_t least = node.attr("min_gram_length", 1),
          most = node.attr("max_gram_length", 1),
          skips = node.attr("max_skip_count", 0);
  if (least < 1 || most < least || skips < 0) {
    node.fail("`min_gram_length` must be at least 1, `max_gram_length` not "
              "below it, and `max_skip_count` at least 0");
    return {};
  }
  // With more ids between two of its own, no sequence fits into a row.
  skips = std::min(skips, x.dim(1));
  Vals parts;
  for (const Grams &grams : all) {
    if (grams.count() == 0)
      continue;
    Val sum = e.filled(DType::FP32, {x.dim(0), grams.count()}, 0);
    bool isCounted = grams.length >= least && grams.length <= most;
    if (!node.affords({x.dim(0), grams.count(), x.dim(1)}))
      return {};
    // Single ids have nothing between them.
    int64_t last = !isCounted ? -1 : grams.length == 1 ? 0 : skips;
    for (int64_t skip = 0; skip <= last; ++skip)
      if (x.dim(1) > (grams.length - 1) * (skip + 1))
        sum = e.add(sum, countOf(e, x, grams, skip));
    parts.push_back(sum);
  }
  if (parts.empty()) {
    node.fail("there are no sequences");
    return {};
  }
  return parts.size() == 1 ? parts.front() : e.concat(parts, 1);
}

/// Column `places[i]` of the result is column i of `counts`; the others are 0.
static Val placed(Node &node, Val counts, llvm::ArrayRef<int64_t> places) {
  Emitter &e = node.e;
  int64_t width = 0;
  for (int64_t place : places)
    width = std::max(width, place + 1);
  if (!node.affords({width}))
    return {};
  Shape from(size_t(width), counts.dim(1)); // zeros, which come last
  for (size_t i = 0; i != places.size(); ++i) {
    if (places[i] < 0 || from[size_t(places[i])] != counts.dim(1)) {
      node.fail("`ngram_indexes` has a place twice, or a negative one");
      return {};
    }
    from[size_t(places[i])] = int64_t(i);
  }
  Val zeros = e.filled(DType::FP32, {counts.dim(0), 1}, 0);
  Val all = e.concat({counts, zeros}, 1), order = e.list(from);
  return e.gather(all, order, 1);
}

namespace {
/// Counts, or 1 for those above 0, or both times the weights.
ANEC_ENUM(Weighing, (Tf, "TF"), (Idf, "IDF"), (TfIdf, "TFIDF"))
} // namespace

static void tfIdfVectorizer(Node &node) {
  Emitter &e = node.e;
  if (node.hasAttr("pool_strings"))
    return node.refuse("strings");
  Val x = node.in(0);
  if (node.failed())
    return;
  bool isRow = x.rank() == 1;
  if (!isRow && x.rank() != 2)
    return node.fail("the input must have one or two axes");
  if (isRow)
    x = e.reshape(x, {1, x.size()});
  std::vector<Grams> all = readGrams(node);
  Shape places = node.attrInts("ngram_indexes");
  if (node.failed())
    return;
  Val counts = countsOf(node, e.cast(x, DType::Int32), all);
  if (!counts)
    return;
  if (int64_t(places.size()) != counts.dim(1))
    return node.fail("`ngram_indexes` must have a place for each sequence");
  auto mode = choiceOf<Weighing>(node, "mode");
  std::vector<double> weights = node.attrNumbers("weights");
  if (node.failed())
    return;
  if (mode == Weighing::Idf)
    counts = e.binary(ops::Minimum, counts, e.scalar(DType::FP32, 1));
  if (mode != Weighing::Tf && !weights.empty()) {
    if (weights.size() != places.size())
      return node.fail("`weights` must have a number for each sequence");
    Shape shape = {counts.dim(1)};
    Val factors =
        e.constant(Constant::fromDoubles({DType::FP32, shape}, weights));
    counts = e.mul(counts, factors);
  }
  Val result = placed(node, counts, places);
  if (!result)
    return;
  node.out(isRow ? e.reshape(result, {result.dim(1)}) : result);
}

static constexpr OpRow wordTable[] = {
    {"TfIdfVectorizer", tfIdfVectorizer, 9, "of integers"},
};

llvm::ArrayRef<OpRow> onnx::wordRows() { return wordTable; }
