//===- Norm.cpp - normalizations of onnxruntime ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Norm.h"
#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"

using namespace anec;
using namespace anec::onnx;

/// x / sqrt(mean of squares + epsilon) * scale over the axes from `axis` on, in
/// fp32; output 1 of the node is the factor, if it is asked for.
static Val rmsNormalized(Node &node, Val x, Val scale, int64_t axis,
                         double epsilon) {
  Emitter &e = node.e;
  Shape axes;
  for (; axis < x.rank(); ++axis)
    axes.push_back(axis);
  Val wide = e.cast(x, DType::FP32);
  Val mean = e.reduce(ops::ReduceMean, e.mul(wide, wide), axes, true);
  Val root = e.unary(ops::Sqrt, e.add(mean, epsilon));
  if (node.wants(1))
    node.out(1, e.div(e.scalar(DType::FP32, 1), root));
  return e.mul(e.cast(e.div(wide, root), x.dtype()), scale);
}

static Val layerNormalized(Emitter &e, Val x, Val scale, Val bias,
                           double epsilon) {
  Shape axes = {x.rank() - 1};
  Val unit = e.make(ops::LayerNorm, {x},
                    {{param::axes, axes},
                     {param::epsilon, Constant::scalar(x.dtype(), epsilon)}});
  Val scaled = e.mul(unit, scale);
  return bias ? e.add(scaled, bias) : scaled;
}

static void simplified(Node &node) {
  Val x = node.in(0), scale = node.in(1);
  int64_t axis = node.axis(-1, x.rank());
  if (!node.failed())
    node.out(
        rmsNormalized(node, x, scale, axis, node.attrNumber("epsilon", 1e-5)));
}

/// The sum of the input, what skips a layer, and a bias: output 3.
static Val skipSum(Node &node, size_t bias) {
  Emitter &e = node.e;
  Val x = node.in(0), skipped = node.in(1), sum = e.add(x, skipped);
  if (node.has(bias))
    sum = e.add(sum, node.in(bias));
  if (sum && sum.rank() < 2)
    node.fail("the input must have rank 2 or 3");
  node.out(3, sum);
  return sum;
}

static void skipSimplified(Node &node) {
  Val sum = skipSum(node, 3), scale = node.in(2);
  if (!node.failed())
    node.out(rmsNormalized(node, sum, scale, sum.rank() - 1,
                           node.attrNumber("epsilon", 1e-12)));
}

static void skipLayer(Node &node) {
  Val sum = skipSum(node, 4), scale = node.in(2), bias = node.maybe(3);
  if (!node.failed())
    node.out(layerNormalized(node.e, sum, scale, bias,
                             node.attrNumber("epsilon", 1e-12)));
}

/// Words, their positions and their segments.
static void embedLayer(Node &node) {
  node.ignore("mask_index_type");
  Emitter &e = node.e;
  Val words = node.in(0), table = node.in(2), positions = node.in(3);
  Val scale = node.in(5), bias = node.in(6);
  if (node.failed())
    return;
  if (words.rank() != 2 || table.rank() != 2 || positions.rank() != 2 ||
      words.dim(1) > positions.dim(0))
    return node.fail("words must be [batch, positions], and embeddings have an "
                     "entry for each");
  Val sum = e.gather(table, words, 0);
  Val places = node.has(8) ? e.gather(positions, node.in(8), 0)
                           : e.slice(positions, 0, 0, words.dim(1));
  sum = e.add(sum, places);
  if (node.has(1) && node.has(4)) {
    Val segments = node.in(4), own = node.in(1);
    sum = e.add(sum, e.gather(segments, own, 0));
  }
  node.out(
      layerNormalized(e, sum, scale, bias, node.attrNumber("epsilon", 1e-12)));
  node.out(2, sum);
  if (node.wants(1))
    node.out(1, node.has(7) ? e.reduce(ops::ReduceSum, node.in(7), {1}, false)
                            : e.filled(DType::Int32, {words.dim(0)}, 0));
}

static constexpr OpRow microsoftNormTable[] = {
    {"EmbedLayerNormalization", embedLayer},
    {"SimplifiedLayerNormalization", simplified, 1, "also in ONNX's domain"},
    {"SkipLayerNormalization", skipLayer, 1, "not the mean and deviation"},
    {"SkipSimplifiedLayerNormalization", skipSimplified},
};

llvm::ArrayRef<OpRow> onnx::microsoftNormRows() { return microsoftNormTable; }
