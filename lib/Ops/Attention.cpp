//===- Attention.cpp - attention --------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// scaled_dot_product_attention of MIL, whose last axis is the width; and sdpa,
/// the authoring form, which is channel-first and has grouped heads and a
/// causal mask, both missing in MIL's op.
///
//===----------------------------------------------------------------------===//

#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"
#include "anec/Ops/Diags.h"
#include "anec/Ops/Gradient.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// scaled_dot_product_attention
//===----------------------------------------------------------------------===//

static bool failMismatch(InferContext &ctx, unsigned a, unsigned b,
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

/// Two products with a softmax between them.
static int64_t attentionFlops(int64_t scores, int64_t width, int64_t outWidth) {
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
};

//===----------------------------------------------------------------------===//
// sdpa
//===----------------------------------------------------------------------===//

/// Checks `q` and `k` of sdpa and sdpa_probs, which have rank 3.
static bool checkAttention(InferContext &ctx) {
  const Shape &q = ctx.type(0).shape, &k = ctx.type(1).shape;
  if (q[1] != k[1])
    return failMismatch(ctx, 0, 1, "their head dimension (axis 1)");
  if (q[0] % k[0])
    return ctx.fail(diag::AttentionHeads(ctx.opName(), q[0], k[0]), {0, 1});
  if (ctx.get(param::causal) && q[2] > k[2])
    return ctx.fail(diag::AttentionCausal(ctx.opName(), q[2], k[2]), {0, 1});
  if (ctx.get(param::causal) && q[2] * k[2] > maxBakedElements)
    return ctx.fail(
        diag::AttentionMaskSize(ctx.opName(), q[2], k[2], maxBakedElements),
        {0, 1});
  return true;
}

static bool inferSdpa(InferContext &ctx) {
  return checkRank(ctx, 0, 3, 3) && checkRank(ctx, 1, 3, 3) && // C1
         checkShape(ctx, 2, ctx.type(1).shape) &&              // C2
         checkAttention(ctx) && inferSame(ctx);                // C3 to C6
}

/// The attention weights of head `h`: [queries, keys].
static std::vector<double> probsOfHead(EvalContext &ctx, int64_t h) {
  const RefTensor &q = *ctx.in[0], &k = *ctx.in[1];
  int64_t width = q.type.shape[1], queries = q.type.shape[2];
  int64_t keys = k.type.shape[2], group = q.type.shape[0] / k.type.shape[0];
  bool causal = ctx.get(param::causal);
  std::vector<double> scores(queries * keys);
  multiply(queries, keys, width,
           transposed(&q.data[h * width * queries], width, queries).data(),
           &k.data[h / group * width * keys], scores.data());
  for (int64_t i = 0; i < queries; ++i) {
    // Query i is at position i + keys - queries, and sees no later key.
    int64_t seen = causal ? i + keys - queries + 1 : keys;
    double *row = &scores[i * keys];
    for (int64_t j = 0; j < seen; ++j)
      row[j] /= std::sqrt(double(width));
    softmaxInPlace(row, seen, 1);
    std::fill(row + seen, row + keys, 0.0);
  }
  return scores;
}

static void evalSdpa(EvalContext &ctx) {
  const RefTensor &q = *ctx.in[0], &v = *ctx.in[2];
  RefTensor &out = ctx.out[0];
  int64_t heads = q.type.shape[0], width = q.type.shape[1];
  int64_t queries = q.type.shape[2], keys = v.type.shape[2];
  int64_t group = heads / v.type.shape[0];
  std::fill(out.data.begin(), out.data.end(), 0.0);
  for (int64_t h = 0; h < heads; ++h)
    multiply(width, queries, keys, &v.data[h / group * width * keys],
             transposed(probsOfHead(ctx, h).data(), queries, keys).data(),
             &out.data[h * width * queries]);
}

/// The mask value of a key that a query does not see. Added to a score, it
/// stays within fp16 (-inf could make the softmax NaN), and its exponential is
/// 0 as long as scores of a row differ by less than 29,000. No row is masked
/// completely (C5).
static constexpr double maskedScore = -3e4;

/// 0 where query i sees key j, j <= i + keys - queries; maskedScore elsewhere.
static std::vector<double> causalMask(int64_t queries, int64_t keys) {
  std::vector<double> mask;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      mask.push_back(j <= i + keys - queries ? 0 : maskedScore);
  return mask;
}

namespace {

/// Places the queries of the `group` heads that share a key head next to each
/// other, [key heads, width, group * queries], so that one product per key head
/// serves all of them and no key is copied.
struct Grouping {
  int64_t heads, width, queries, keyHeads, keys, group;

  explicit Grouping(const Op &op) {
    const Shape &q = op.operand(0u)->type.shape,
                &k = op.operand(1u)->type.shape;
    heads = q[0], width = q[1], queries = q[2];
    keyHeads = k[0], keys = k[2];
    group = heads / keyHeads;
  }
  /// 1 / sqrt(width)
  double scale() const { return 1 / std::sqrt(double(width)); }
  Shape perHead() const { return {heads, queries, keys}; }
  Shape rows() const { return {keyHeads, group * queries, keys}; }
};

} // namespace

/// [heads, width, queries] -> [key heads, width, group * queries]
static Value *together(Decomposition &d, const Grouping &s, Value *x) {
  x = d.reshape(x, {s.keyHeads, s.group, s.width, s.queries}, "q_grouped");
  x = d.transpose(x, {0, 2, 1, 3}, "q_together");
  return d.reshape(x, {s.keyHeads, s.width, s.group * s.queries}, "q_rows");
}

/// softmax((q / sqrt(width))^T k + mask), [heads, queries, keys]
///
/// Scaling q instead of the scores keeps the scores within fp16, and q is the
/// smaller array.
static Value *decomposeProbs(Decomposition &d, const Op &op,
                             llvm::StringRef name) {
  Grouping s(op);
  Value *q = op.operand(0u), *k = op.operand(1u);
  q = d.make(ops::Mul, {q, d.scalar(s.scale(), "scale")}, "scaled");
  if (s.group > 1)
    q = together(d, s, q);
  Value *scores =
      d.make(ops::Matmul, {q, k}, Attr(param::transposeX, true), "scores");
  if (s.group > 1)
    scores = d.reshape(scores, s.perHead(), "scores_per_head");
  if (op.get(param::causal) && s.queries > 1) {
    Value *mask =
        d.array({1, s.queries, s.keys}, causalMask(s.queries, s.keys), "mask");
    scores = d.make(ops::Add, {scores, mask}, "masked");
  }
  return d.make(ops::Softmax, {scores}, name);
}

/// out = v probs^T
static void decomposeSdpa(Builder &builder, const Op &op,
                          llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Grouping s(op);
  bool grouped = s.group > 1;
  Value *probs = decomposeProbs(d, op, "probs");
  if (grouped)
    probs = d.reshape(probs, s.rows(), "probs_rows");
  Value *out = d.make(ops::Matmul, {op.operand(2u), probs},
                      Attr(param::transposeY, true), grouped ? "out_rows" : "");
  if (grouped) {
    out = d.reshape(out, {s.keyHeads, s.width, s.group, s.queries},
                    "out_together");
    out = d.transpose(out, {0, 2, 1, 3}, "out_grouped");
    out = d.reshape(out, {s.heads, s.width, s.queries});
  }
  results.push_back(out);
}

namespace {

/// The values that the gradients of sdpa and sdpa_probs share.
class AttentionGradient : Grouping {
public:
  explicit AttentionGradient(Gradient &g) : Grouping(g.op), g(g) {}

  Value *together(Value *x) {
    if (group == 1)
      return x;
    x = g.reshape(x, {keyHeads, group, width, queries});
    return g.reshape(g.transpose(x, {0, 2, 1, 3}),
                     {keyHeads, width, group * queries});
  }
  Value *apart(Value *x) {
    if (group == 1)
      return x;
    x = g.reshape(x, {keyHeads, width, group, queries});
    return g.reshape(g.transpose(x, {0, 2, 1, 3}), {heads, width, queries});
  }
  Value *toRows(Value *x) { return g.reshape(x, rows()); }

  /// dp = dy^T v
  Value *dprobs() {
    Value *dp = g.matmul(together(g.dy()), g.in(2), true, false);
    return g.reshape(dp, perHead());
  }
  /// probs (dp - sum(dp probs)), which is 0 for masked scores.
  Value *dscores(Value *probs, Value *dp) {
    return toRows(g.mul(probs, g.sub(dp, g.sum(g.mul(dp, probs), 2))));
  }
  /// k dscores^T / sqrt(width)
  Value *dq(Value *dscores) {
    return g.mul(apart(g.matmul(g.in(1), dscores, false, true)), scale());
  }
  /// (q / sqrt(width)) dscores; the product also sums over the heads that share
  /// k.
  Value *dk(Value *dscores) {
    return g.matmul(together(g.mul(g.in(0), scale())), dscores, false, false);
  }

private:
  Gradient &g;
};

} // namespace

static void gradientSdpa(Gradient &g) {
  AttentionGradient s(g);
  auto probs = [&] {
    return g.make(ops::SdpaProbs, {g.in(0), g.in(1)},
                  Attr(param::causal, g.op.constant(param::causal)));
  };
  auto dscores = [&] { return s.dscores(probs(), s.dprobs()); };
  g.give(0, [&] { return s.dq(dscores()); });
  g.give(1, [&] { return s.dk(dscores()); });
  // dv = dy probs
  g.give(2, [&] {
    return g.matmul(s.together(g.dy()), s.toRows(probs()), false, false);
  });
}

static int64_t flopsSdpa(const Op &op) {
  const Shape &q = op.operand(0u)->type.shape, &k = op.operand(1u)->type.shape;
  return attentionFlops(saturatingProduct({q[0], q[2], k[2]}), q[1], q[1]);
}

constinit const OpDef ops::Sdpa = {
    .name = "sdpa",
    .summary = "Channel-first attention: v softmax(k^T q / sqrt(width)) per "
               "head. Query head h uses key head h / (heads / key heads). With "
               "`causal`, a query attends only to keys up to its own position; "
               "the queries are the last of the keys' positions.",
    .family = "attention",
    .params = {value(param::q, floats, 'T', "[heads, width, queries]"),
               value(param::k, floats, 'T', "[key heads, width, keys]"),
               value(param::v, floats, 'T', "[key heads, width, keys]"),
               boolean(param::causal, "false")},
    .constraints = {"`q` and `k` have rank 3", "`v` has the shape of `k`",
                    "`q` and `k` have the same width",
                    "the number of key heads divides the number of query heads",
                    "`causal` requires at least as many keys as queries",
                    "`causal` allows at most 2^26 scores per head, because its "
                    "mask is stored in the program"},
    .infer = inferSdpa,
    .eval = evalSdpa,
    .decompose = decomposeSdpa,
    .flops = flopsSdpa,
    .gradient = gradientSdpa,
};

//===----------------------------------------------------------------------===//
// sdpa_probs
//===----------------------------------------------------------------------===//

static bool inferSdpaProbs(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 3) || !checkRank(ctx, 1, 3, 3)) // C1
    return false;
  const Shape &q = ctx.type(0).shape, &k = ctx.type(1).shape;
  return checkAttention(ctx) && // C2 to C5
         ctx.result({ctx.type(0).dtype, {q[0], q[2], k[2]}});
}

static void evalSdpaProbs(EvalContext &ctx) {
  const RefTensor &q = *ctx.in[0], &k = *ctx.in[1];
  int64_t heads = q.type.shape[0], size = q.type.shape[2] * k.type.shape[2];
  for (int64_t h = 0; h < heads; ++h) {
    std::vector<double> probs = probsOfHead(ctx, h);
    std::copy_n(probs.begin(), size, ctx.out[0].data.begin() + h * size);
  }
}

static void decomposeSdpaProbs(Builder &builder, const Op &op,
                               llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  results.push_back(decomposeProbs(d, op, ""));
}

static void gradientSdpaProbs(Gradient &g) {
  AttentionGradient s(g);
  auto dscores = [&] { return s.dscores(g.out(), g.dy()); };
  g.give(0, [&] { return s.dq(dscores()); });
  g.give(1, [&] { return s.dk(dscores()); });
}

static int64_t flopsSdpaProbs(const Op &op) {
  return saturatingProduct(
      {op.result()->type.numElements(), 2 * op.operand(0u)->type.shape[1] + 5});
}

constinit const OpDef ops::SdpaProbs = {
    .name = "sdpa_probs",
    .summary = "The attention weights of `sdpa` for the same `q` and `k`: "
               "[heads, queries, keys].",
    .family = "attention",
    .params = {value(param::q, floats, 'T', "[heads, width, queries]"),
               value(param::k, floats, 'T', "[key heads, width, keys]"),
               boolean(param::causal, "false")},
    .constraints = {"`q` and `k` have rank 3",
                    "`q` and `k` have the same width",
                    "the number of key heads divides the number of query heads",
                    "`causal` requires at least as many keys as queries",
                    "`causal` allows at most 2^26 scores per head, because its "
                    "mask is stored in the program"},
    .infer = inferSdpaProbs,
    .eval = evalSdpaProbs,
    .decompose = decomposeSdpaProbs,
    .flops = flopsSdpaProbs,
    .gradient = gradientSdpaProbs,
};
