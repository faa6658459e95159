//===- Attention.cpp - attention of MIL -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// scaled_dot_product_attention of MIL, whose last axis is the width. The
/// authoring form is in Sdpa.cpp.
///
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Attention.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// scaled_dot_product_attention
//===----------------------------------------------------------------------===//

bool anec::failMismatch(InferContext &ctx, unsigned a, unsigned b,
                        const char *what) {
  return ctx.fail(diag::AttentionMismatch(ctx.opName(), ctx.describeOperand(a),
                                          ctx.describeOperand(b), what),
                  {a, b});
}

static bool inferAttention(InferContext &ctx) {
  const TensorType &query = ctx.type(0), &key = ctx.type(1);
  const TensorType &values = ctx.type(2);
  unsigned rank = query.rank();
  if (!checkRank(ctx, 0, 3, 5) || !checkRank(ctx, 1, rank, rank) ||
      !checkRank(ctx, 2, rank, rank)) // C1
    return false;
  llvm::ArrayRef<int64_t> q(query.shape), k(key.shape), v(values.shape);
  if (q.drop_back(2) != k.drop_back(2)) // C2
    return failMismatch(ctx, 0, 1, "their leading extents");
  if (k.drop_back() != v.drop_back()) // C2 C3
    return failMismatch(ctx, 1, 2, "their positions");
  if (q.back() != k.back()) // C4
    return failMismatch(ctx, 0, 1, "their last extents");
  Shape scores(q.begin(), q.end());
  scores.back() = k[rank - 2];
  if (ctx.hasOperand(3)) { // C5
    auto shape = broadcastShapes(ctx.type(3).shape, scores);
    if (!shape || *shape != scores)
      return ctx.fail(diag::MaskMismatch(ctx.opName(), ctx.describeOperand(3),
                                         shapeToString(scores)),
                      {3});
  }
  Shape shape(q.begin(), q.end());
  shape.back() = v.back();
  return ctx.result({query.dtype, shape});
}

static void evalAttention(EvalContext &ctx) {
  const RefTensor &query = *ctx.in[0], &key = *ctx.in[1], &values = *ctx.in[2];
  const RefTensor *mask = operandOrNull(ctx, 3);
  RefTensor &out = ctx.out[0];
  unsigned rank = query.type.rank();
  int64_t queries = query.type.shape[rank - 2], width = query.type.shape.back();
  int64_t keys = key.type.shape[rank - 2], outWidth = values.type.shape.back();

  // softmax(q k^T / sqrt(width) + mask) v, per leading index
  Shape scoreShape = query.type.shape;
  scoreShape.back() = keys;
  int64_t batch = int64_t(query.data.size()) / (queries * width);
  std::vector<double> scores(batch * queries * keys);
  for (int64_t b = 0; b < batch; ++b)
    multiply(queries, keys, width, &query.data[b * queries * width],
             transposed(&key.data[b * keys * width], keys, width).data(),
             &scores[b * queries * keys]);
  for (double &score : scores)
    score /= std::sqrt(double(width));
  if (mask)
    forEachElement<2>(scoreShape,
                      {rowMajorStrides(scoreShape),
                       broadcastStrides(mask->type.shape, scoreShape)},
                      [&](const auto &at) {
                        double m = mask->data[at[1]];
                        if (mask->type.dtype == DType::Bool)
                          m = m != 0 ? 0.0 : -INFINITY;
                        scores[at[0]] += m;
                      });
  for (int64_t row = 0; row < batch * queries; ++row)
    softmaxInPlace(&scores[row * keys], keys, 1);
  std::fill(out.data.begin(), out.data.end(), 0.0);
  for (int64_t b = 0; b < batch; ++b)
    multiply(queries, outWidth, keys, &scores[b * queries * keys],
             &values.data[b * keys * outWidth],
             &out.data[b * queries * outWidth]);
}

/// With p = softmax(s), s = q k^T / sqrt(width) + mask, y = p v:
///
///   dv = p^T dy,  ds = p (dp - sum(dp p)) with dp = dy v^T,
///   dq = ds k / sqrt(width),  dk = ds^T q / sqrt(width),  dmask = ds
static void gradientAttention(Gradient &g) {
  double scale = 1 / std::sqrt(double(g.shape(0).back()));
  int64_t keys = int64_t(g.rank(0)) - 1;
  auto probs = [&] {
    Value *scores = g.matmul(g.mul(g.in(0), scale), g.in(1), false, true);
    Value *mask = g.op.operand(param::attnMask);
    if (mask && mask->type.dtype == DType::Bool)
      scores = g.select(mask, scores, g.scalar(-INFINITY));
    else if (mask)
      scores = g.add(scores, g.in(3));
    return g.make(ops::Softmax, {scores});
  };
  auto dscores = [&] {
    Value *p = probs(), *dp = g.matmul(g.dy(), g.in(2), false, true);
    return g.mul(p, g.sub(dp, g.sum(g.mul(dp, p), keys)));
  };
  g.give(0, [&] {
    return g.mul(g.matmul(dscores(), g.in(1), false, false), scale);
  });
  g.give(1, [&] {
    return g.matmul(dscores(), g.mul(g.in(0), scale), true, false);
  });
  g.give(2, [&] { return g.matmul(probs(), g.dy(), true, false); });
  g.give(3, [&] { return dscores(); });
}

int64_t anec::attentionFlops(int64_t scores, int64_t width, int64_t outWidth) {
  return saturatingProduct({scores, 2 * width + 2 * outWidth + 5});
}

static int64_t flopsAttention(const Op &op) {
  const TensorType &query = op.operand(0u)->type,
                   &values = op.operand(2u)->type;
  int64_t keys = values.shape[values.rank() - 2];
  int64_t rows = query.numElements() / query.shape.back();
  return attentionFlops(saturatingProduct({rows, keys}), query.shape.back(),
                        values.shape.back());
}

constinit const OpDef ops::ScaledDotProductAttention = {
    .name = "scaled_dot_product_attention",
    .summary =
        "softmax(`query` `key`^T / sqrt(width) + `attn_mask`) `value` over the "
        "last two axes. A boolean mask keeps the scores where it is true.",
    .family = "attention",
    .params = {value(param::query, floats, 'T', "[..., queries, width]"),
               value(param::key, floats, 'T', "[..., keys, width]"),
               value(param::value, floats, 'T', "[..., keys, out width]"),
               optionalValue(param::attnMask,
                             {DType::Bool, DType::FP16, DType::FP32}, 'M')},
    .traits = trait::Mil,
    .constraints = {"`query`, `key` and `value` have the same rank, 3 to 5",
                    "their leading extents agree",
                    "`key` and `value` have the same number of positions",
                    "`query` and `key` have the same width",
                    "`attn_mask` broadcasts to [..., queries, keys]"},
    .infer = inferAttention,
    .eval = evalAttention,
    .flops = flopsAttention,
    .gradient = gradientAttention,
    .positions = {positions::combined},
};
