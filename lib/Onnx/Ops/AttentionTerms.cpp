//===- AttentionTerms.cpp - what forms of attention share -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

Val onnx::splitHeads(Emitter &e, Val x, int64_t heads) {
  Shape shape = {x.dim(0), x.dim(1), heads, x.dim(2) / heads};
  return e.transpose(e.reshape(x, shape), {0, 2, 1, 3});
}

Val onnx::joinHeads(Emitter &e, Val x) {
  return e.reshape(e.transpose(x, {0, 2, 1, 3}),
                   {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

Val onnx::bothHold(Emitter &e, Val first, Val second) {
  if (!first || !second)
    return first ? first : second;
  return e.make(ops::LogicalAnd, {first, second});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The product of each head of `x` and its head of `keys`.
static Val headProduct(Emitter &e, Val x, Val keys, bool transposed) {
  int64_t heads = x.dim(1), shared = keys.dim(1);
  int64_t rows = heads / std::max<int64_t>(shared, 1) * x.dim(2);
  Val own = e.reshape(x, {x.dim(0), shared, rows, x.dim(3)});
  Val product = e.matmul(own, keys, false, transposed);
  return e.reshape(product, {x.dim(0), heads, x.dim(2), product.dim(3)});
}

/// Whether each row of a constant mask keeps something.
static bool keepsSome(Emitter &e, Val keeps) {
  ConstantRef known = e.known(keeps);
  if (!known)
    return false;
  std::vector<double> elements = known->asDoubles();
  auto width = size_t(std::max<int64_t>(keeps.dim(-1), 1));
  for (llvm::ArrayRef<double> rest(elements); !rest.empty();
       rest = rest.drop_front(width))
    if (llvm::all_of(rest.take_front(width),
                     [](double element) { return element == 0; }))
      return false;
  return true;
}

/// Takes the minus infinities out of a bias: they become elements that are not
/// kept.
static void dropInfinities(Emitter &e, Val &bias, Val &keeps) {
  if (!bias)
    return;
  ConstantRef known = e.known(bias);
  if (known && !llvm::is_contained(known->asDoubles(), -INFINITY))
    return;
  Val finite = e.make(ops::NotEqual, {bias, e.scalar(bias.dtype(), -INFINITY)});
  bias = e.select(finite, bias, e.scalar(bias.dtype(), 0));
  keeps = bothHold(e, keeps, finite);
}

/// The weights of scores beside one more, `sink`, whose weight is left out.
static Val weightsBeside(Emitter &e, Val scores, Val sink) {
  int64_t keys = scores.dim(3);
  Val one = e.reshape(e.cast(sink, scores.dtype()), {1, sink.size(), 1, 1});
  one = e.broadcast(one, {scores.dim(0), scores.dim(1), scores.dim(2), 1});
  Val all =
      e.make(ops::Softmax, {e.concat({scores, one}, 3)}, {{param::axis, -1}});
  return e.slice(all, 3, 0, keys);
}

AttentionResults onnx::attend(Emitter &e, const AttentionTerms &terms) {
  AttentionResults results;
  Val query = terms.scale == 1 ? terms.query : e.mul(terms.query, terms.scale);
  Val scores = headProduct(e, query, terms.key, true);
  results.products = scores;
  if (terms.softcap > 0)
    scores = e.mul(e.unary(ops::Tanh, e.mul(scores, 1 / terms.softcap)),
                   terms.softcap);
  results.capped = scores;
  Val bias = terms.bias ? e.cast(terms.bias, scores.dtype()) : Val();
  Val keeps = terms.keeps;
  dropInfinities(e, bias, keeps);
  if (bias)
    scores = e.add(scores, bias);
  results.biased =
      keeps ? e.select(keeps, scores, e.scalar(scores.dtype(), -INFINITY))
            : scores;
  // Without infinities, so that rows of which nothing is kept have no NaN.
  DType dtype = scores.dtype();
  double least = dtype == DType::FP16 ? -60000 : -1e30;
  if (keeps)
    scores = e.select(keeps, scores, e.scalar(dtype, least));
  if (terms.precision)
    scores = e.cast(scores, *terms.precision);
  Val weights = terms.sink
                    ? weightsBeside(e, scores, terms.sink)
                    : e.make(ops::Softmax, {scores}, {{param::axis, -1}});
  weights = e.cast(weights, dtype);
  if (keeps && !keepsSome(e, keeps))
    weights = e.mul(weights, e.cast(keeps, dtype));
  results.weights = weights;
  results.output = headProduct(e, weights, terms.value, false);
  return results;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// The position of each key less that of its query, counted from the first of
/// both, plus `shift`: int32 [queries, keys]. Missing after an error.
static Val distances(Node &node, int64_t queries, int64_t keys, int64_t shift) {
  if (!node.affords({queries, keys}))
    return {};
  std::vector<double> elements;
  for (int64_t query = 0; query != queries; ++query)
    for (int64_t key = 0; key != keys; ++key)
      elements.push_back(double(key - query + shift));
  return node.e.constant(
      Constant::fromDoubles({DType::Int32, {queries, keys}}, elements));
}

/// key - query - before, in a reach.
static Val within(Emitter &e, Val distance, Val before, Reach reach) {
  Val left, right;
  if (reach.left >= 0)
    left = e.make(
        ops::GreaterEqual,
        {distance, e.add(before, e.scalar(DType::Int32, -double(reach.left)))});
  if (reach.right >= 0)
    right = e.make(
        ops::LessEqual,
        {distance, e.add(before, e.scalar(DType::Int32, double(reach.right)))});
  return bothHold(e, left, right);
}

Val onnx::seenKeys(Node &node, int64_t queries, int64_t keys, int64_t before,
                   Reach reach) {
  Val distance = distances(node, queries, keys, 0);
  return within(node.e, distance, node.e.scalar(DType::Int32, double(before)),
                reach);
}

static Val ofBatch(Emitter &e, Val lengths) {
  return e.reshape(e.cast(lengths, DType::Int32), {lengths.size(), 1, 1, 1});
}

Val onnx::seenKeys(Node &node, int64_t queries, int64_t keys, Val lengths,
                   Reach reach) {
  // The first query is at lengths - queries.
  Val distance = distances(node, queries, keys, queries);
  distance = node.e.reshape(distance, {1, 1, queries, keys});
  return within(node.e, distance, ofBatch(node.e, lengths), reach);
}

Val onnx::firstKeys(Node &node, int64_t keys, Val lengths) {
  Val position = distances(node, 1, keys, 0);
  position = node.e.reshape(position, {1, 1, 1, keys});
  return node.e.make(ops::Less, {position, ofBatch(node.e, lengths)});
}

//===----------------------------------------------------------------------===//
// Rotation
//===----------------------------------------------------------------------===//

Val onnx::rotated(Emitter &e, Val x, Val cosines, Val sines, int64_t width,
                  bool neighbors) {
  int64_t half = width / 2;
  auto table = [&](Val angles) {
    Shape shape = angles.shape();
    shape.insert(shape.end() - 2, 1);
    return e.cast(e.reshape(angles, shape), x.dtype());
  };
  cosines = table(cosines);
  sines = table(sines);
  Val turning = e.slice(x, -1, 0, width), first, second;
  if (neighbors) {
    first = e.slice(turning, -1, 0, width, 2);
    second = e.slice(turning, -1, 1, width, 2);
  } else {
    first = e.slice(turning, -1, 0, half);
    second = e.slice(turning, -1, half, width);
  }
  Val firstCosine = e.mul(first, cosines), secondSine = e.mul(second, sines);
  Val firstSine = e.mul(first, sines), secondCosine = e.mul(second, cosines);
  Val real = e.sub(firstCosine, secondSine);
  Val imaginary = e.add(firstSine, secondCosine);
  Val result;
  if (neighbors) {
    Val pairs = e.make(ops::Stack, {real, imaginary}, {{param::axis, -1}});
    result = e.reshape(pairs, turning.shape());
  } else {
    result = e.concat({real, imaginary}, -1);
  }
  if (width != x.dim(-1))
    result = e.concat({result, e.slice(x, -1, width, x.dim(-1))}, -1);
  return result;
}
