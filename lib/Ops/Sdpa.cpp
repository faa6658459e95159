//===- Sdpa.cpp - channel-first attention -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// sdpa, the authoring form of attention: channel-first, with grouped heads, a
/// causal mask, a window and a score cap, which MIL's op lacks; and sdpa_probs,
/// its attention weights, which its gradient needs.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Sdpa.h"
#include "Attention.h"
#include "Decompose.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The slot of the mask: it follows `v` in sdpa, and `k` in sdpa_probs.
static unsigned maskSlot(const OpDef &def) {
  return unsigned(def.valueSlot(param::mask));
}

namespace {

/// The sizes and score parameters of attention. A batch counts as more heads:
/// query head h still uses key head h / group.
struct Attention {
  Shape batch; ///< empty, or the leading extent
  int64_t heads, width, queries, keyHeads, keys, group;
  bool causal;
  int64_t window;
  double scale, softcap;

  /// `Context` is an Op, an InferContext or an EvalContext.
  template <typename Context>
  Attention(const Context &ctx, llvm::ArrayRef<int64_t> q,
            llvm::ArrayRef<int64_t> k)
      : batch(q.drop_back(3)), heads(q[q.size() - 3]), width(q[q.size() - 2]),
        queries(q.back()), keyHeads(k[k.size() - 3]), keys(k.back()),
        group(heads / keyHeads), causal(ctx.get(param::causal)),
        window(ctx.get(param::window)), softcap(ctx.get(param::softcap)) {
    scale = ctx.constant(param::scoreScale) ? ctx.get(param::scoreScale)
                                            : 1 / std::sqrt(double(width));
  }
  explicit Attention(const Op &op)
      : Attention(op, op.operand(0u)->type.shape, op.operand(1u)->type.shape) {}

  int64_t batches() const { return batch.empty() ? 1 : batch[0]; }
  /// [batch, ...] or [...]
  Shape batched(std::initializer_list<int64_t> rest) const {
    Shape shape = batch;
    shape.append(rest);
    return shape;
  }
  Shape scores() const { return batched({heads, queries, keys}); }
  /// Queries of the heads that share a key head, side by side.
  Shape rows() const { return {batches() * keyHeads, group * queries, keys}; }
  /// Query i is at position i + keys - queries.
  bool sees(int64_t query, int64_t key) const {
    int64_t distance = query + keys - queries - key;
    return (!causal || distance >= 0) &&
           (window == 0 || std::abs(distance) < window);
  }
  /// Whether some query does not see all keys.
  bool hides() const {
    return (causal && queries > 1) || (window != 0 && window < keys);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// Whether the mask broadcasts to the scores, and adds to them.
static bool checkMask(InferContext &ctx, const Shape &scores) {
  unsigned slot = maskSlot(ctx.def);
  if (!ctx.hasOperand(slot))
    return true;
  const TensorType &mask = ctx.type(slot);
  auto shape = broadcastShapes(mask.shape, scores);
  if (!shape || *shape != scores)
    return ctx.fail(diag::MaskMismatch(ctx.opName(), ctx.describeOperand(slot),
                                       shapeToString(scores)),
                    {slot});
  return mask.dtype == DType::Bool || mask.dtype == ctx.type(0).dtype ||
         ctx.fail(diag::MaskType(ctx.opName(), ctx.describeOperand(slot),
                                 spelling(ctx.type(0).dtype)),
                  {slot});
}

/// Checks `q`, `k` and the mask of sdpa and sdpa_probs.
static bool checkAttention(InferContext &ctx) {
  llvm::ArrayRef<int64_t> q = ctx.type(0).shape, k = ctx.type(1).shape;
  Attention a(ctx, q, k);
  if (q[q.size() - 2] != k[k.size() - 2])
    return failMismatch(ctx, 0, 1, "their head dimension (axis -2)");
  if (a.heads % a.keyHeads)
    return ctx.fail(diag::AttentionHeads(ctx.opName(), a.heads, a.keyHeads),
                    {0, 1});
  bool hides = a.causal || a.window != 0;
  if (hides && a.queries > a.keys)
    return ctx.fail(diag::AttentionCausal(ctx.opName(), a.queries, a.keys),
                    {0, 1});
  if (hides && a.queries * a.keys > maxBakedElements)
    return ctx.fail(diag::AttentionMaskSize(ctx.opName(), a.queries, a.keys,
                                            maxBakedElements),
                    {0, 1});
  if (!checkRange(ctx, param::window, 0))
    return false;
  if (!(a.softcap >= 0) || std::isinf(a.softcap))
    return failNumber(ctx, param::softcap, "at least 0");
  if (!std::isfinite(a.scale))
    return failNumber(ctx, param::scoreScale, "a finite number");
  return checkMask(ctx, a.scores());
}

/// Whether `q` and `k` have the same rank and batch.
static bool checkRanks(InferContext &ctx) {
  unsigned rank = ctx.type(0).rank();
  if (!checkRank(ctx, 0, 3, 4) || !checkRank(ctx, 1, rank, rank))
    return false;
  return rank == 3 || ctx.type(0).shape[0] == ctx.type(1).shape[0] ||
         failMismatch(ctx, 0, 1, "their batch (axis 0)");
}

static bool inferSdpa(InferContext &ctx) {
  return checkRanks(ctx) &&                       // C1
         checkShape(ctx, 2, ctx.type(1).shape) && // C2
         checkAttention(ctx) && inferSame(ctx);   // C3 to C8
}

static bool inferSdpaProbs(InferContext &ctx) {
  return checkRanks(ctx) &&     // C1
         checkAttention(ctx) && // C2 to C7
         ctx.result(
             {ctx.type(0).dtype,
              Attention(ctx, ctx.type(0).shape, ctx.type(1).shape).scores()});
}

//===----------------------------------------------------------------------===//
// Reference
//===----------------------------------------------------------------------===//

/// The upper bound of the score of query i and key j.
static std::vector<double> hidingMask(const Attention &a, DType dtype) {
  std::vector<double> mask;
  for (int64_t i = 0; i < a.queries; ++i)
    for (int64_t j = 0; j < a.keys; ++j)
      mask.push_back(a.sees(i, j) ? shownScore(dtype) : hiddenScore(dtype));
  return mask;
}

namespace {
/// The elements of the mask for all scores; empty without one.
struct MaskElements {
  std::vector<double> elements;
  bool isBool = false;
  double hidden = 0;

  MaskElements(EvalContext &ctx, const Attention &a) {
    const RefTensor *mask = operandOrNull(ctx, maskSlot(ctx.def));
    if (!mask)
      return;
    isBool = mask->type.dtype == DType::Bool;
    hidden = hiddenScore(ctx.in[0]->type.dtype);
    Shape shape = a.scores();
    forEachElement<1>(
        shape, {broadcastStrides(mask->type.shape, shape)},
        [&](const auto &at) { elements.push_back(mask->data[at[0]]); });
  }
  double masked(double score, int64_t at) const {
    if (elements.empty())
      return score;
    if (isBool)
      return elements[at] != 0 ? score : std::min(score, hidden);
    return score + elements[at];
  }
};
} // namespace

/// The attention weights of head `h`: [queries, keys].
static std::vector<double> probsOfHead(EvalContext &ctx, const Attention &a,
                                       const MaskElements &mask, int64_t h) {
  std::vector<double> scores(a.queries * a.keys);
  multiply(
      a.queries, a.keys, a.width,
      transposed(&ctx.in[0]->data[h * a.width * a.queries], a.width, a.queries)
          .data(),
      &ctx.in[1]->data[h / a.group * a.width * a.keys], scores.data());
  for (int64_t i = 0; i < a.queries; ++i) {
    double *row = &scores[i * a.keys];
    for (int64_t j = 0; j < a.keys; ++j) {
      row[j] *= a.scale;
      if (a.softcap != 0)
        row[j] = a.softcap * std::tanh(row[j] / a.softcap);
      row[j] = mask.masked(row[j], (h * a.queries + i) * a.keys + j);
      if (!a.sees(i, j))
        row[j] = -INFINITY;
    }
    softmaxInPlace(row, a.keys, 1);
  }
  return scores;
}

static void evalSdpa(EvalContext &ctx) {
  Attention a(ctx, ctx.in[0]->type.shape, ctx.in[1]->type.shape);
  const RefTensor &v = *ctx.in[2];
  RefTensor &out = ctx.out[0];
  MaskElements mask(ctx, a);
  std::fill(out.data.begin(), out.data.end(), 0.0);
  for (int64_t h = 0; h < a.batches() * a.heads; ++h)
    multiply(a.width, a.queries, a.keys,
             &v.data[h / a.group * a.width * a.keys],
             transposed(probsOfHead(ctx, a, mask, h).data(), a.queries, a.keys)
                 .data(),
             &out.data[h * a.width * a.queries]);
}

static void evalSdpaProbs(EvalContext &ctx) {
  Attention a(ctx, ctx.in[0]->type.shape, ctx.in[1]->type.shape);
  MaskElements mask(ctx, a);
  for (int64_t h = 0; h < a.batches() * a.heads; ++h)
    llvm::copy(probsOfHead(ctx, a, mask, h),
               ctx.out[0].data.begin() + h * a.queries * a.keys);
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

/// [batch * heads, width, queries] -> [batch * key heads, width, group *
/// queries], so that one product per key head serves all heads of its group and
/// no key is copied.
static Value *together(Decomposition &d, const Attention &a, Value *x) {
  int64_t all = a.batches() * a.keyHeads;
  x = d.reshape(x, {all, a.group, a.width, a.queries}, "q_grouped");
  x = d.transpose(x, {0, 2, 1, 3}, "q_together");
  return d.reshape(x, {all, a.width, a.group * a.queries}, "q_rows");
}

/// [batch, key heads, width, keys] -> [batch * key heads, width, keys]
static Value *perKeyHead(Decomposition &d, const Attention &a, Value *x,
                         llvm::StringRef name) {
  if (a.batch.empty())
    return x;
  return d.reshape(x, {a.batches() * a.keyHeads, a.width, a.keys}, name);
}

/// A float mask is added to the scores. What a boolean one or the positions
/// hide gets the lowest score, by an upper bound of all scores, which is a
/// constant if the mask is.
static Value *maskScores(Decomposition &d, const Op &op, const Attention &a,
                         Value *scores) {
  Value *mask = op.operand(param::mask), *bound = nullptr;
  DType dtype = op.operand(0u)->type.dtype;
  if (mask && mask->type.dtype == DType::Bool) {
    // (mask * 2 - 1) * shownScore
    mask = d.make(ops::Cast, {mask}, Attr(param::dtype, dtype), "kept");
    mask = d.make(ops::Mul, {mask, d.scalar(2, "two")}, "kept_twice");
    mask = d.make(ops::Sub, {mask, d.scalar(1, "one")}, "sign");
    bound = d.make(ops::Mul, {mask, d.scalar(shownScore(dtype), "shown")},
                   "largest");
  } else if (mask) {
    scores = d.make(ops::Add, {scores, mask}, "with_mask");
  }
  if (a.hides()) {
    Value *hiding =
        d.array({1, a.queries, a.keys}, hidingMask(a, dtype), "causal_mask");
    bound = bound ? d.make(ops::Minimum, {bound, hiding}, "mask") : hiding;
  }
  return bound ? d.make(ops::Minimum, {scores, bound}, "masked") : scores;
}

/// softmax(min(cap((q scale)^T k) + mask, bound)), [batch, heads, queries,
/// keys]
///
/// Scaling q instead of the scores keeps the scores within fp16, and q is the
/// smaller array.
static Value *decomposeProbs(Decomposition &d, const Op &op,
                             llvm::StringRef name) {
  Attention a(op);
  Value *q = op.operand(0u), *k = op.operand(1u);
  q = d.make(ops::Mul, {q, d.scalar(a.scale, "scale")}, "scaled");
  if (a.group > 1) {
    q = together(d, a, q);
    k = perKeyHead(d, a, k, "k_heads");
  }
  Value *scores =
      d.make(ops::Matmul, {q, k}, Attr(param::transposeX, true), "scores");
  if (a.group > 1)
    scores = d.reshape(scores, a.scores(), "scores_per_head");
  if (a.softcap != 0) {
    Value *cap = d.scalar(a.softcap, "softcap");
    scores = d.make(ops::RealDiv, {scores, cap}, "of_cap");
    scores = d.make(ops::Tanh, {scores}, "bent");
    scores = d.make(ops::Mul, {scores, cap}, "capped");
  }
  scores = maskScores(d, op, a, scores);
  return d.make(ops::Softmax, {scores}, name);
}

/// out = v probs^T
static void decomposeSdpa(Builder &builder, const Op &op,
                          llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Attention a(op);
  bool grouped = a.group > 1;
  Value *probs = decomposeProbs(d, op, "probs"), *v = op.operand(2u);
  if (grouped) {
    probs = d.reshape(probs, a.rows(), "probs_rows");
    v = perKeyHead(d, a, v, "v_heads");
  }
  Value *out = d.make(ops::Matmul, {v, probs}, Attr(param::transposeY, true),
                      grouped ? "out_rows" : "");
  if (grouped) {
    out =
        d.reshape(out, {a.batches() * a.keyHeads, a.width, a.group, a.queries},
                  "out_together");
    out = d.transpose(out, {0, 2, 1, 3}, "out_grouped");
    out = d.reshape(out, op.result()->type.shape);
  }
  results.push_back(out);
}

static void decomposeSdpaProbs(Builder &builder, const Op &op,
                               llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  results.push_back(decomposeProbs(d, op, ""));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {

/// The values that the gradients of sdpa and sdpa_probs share.
class AttentionGradient : Attention {
public:
  explicit AttentionGradient(Gradient &g) : Attention(g.op), g(g) {}

  Value *together(Value *x) {
    if (group == 1)
      return x;
    x = g.reshape(x, {batches() * keyHeads, group, width, queries});
    return g.reshape(g.transpose(x, {0, 2, 1, 3}),
                     {batches() * keyHeads, width, group * queries});
  }
  Value *apart(Value *x) {
    if (group == 1)
      return x;
    x = g.reshape(x, {batches() * keyHeads, width, group, queries});
    return g.reshape(g.transpose(x, {0, 2, 1, 3}),
                     batched({heads, width, queries}));
  }
  Value *toRows(Value *x) { return group == 1 ? x : g.reshape(x, rows()); }
  /// A key or value, as the products take it.
  Value *perKeyHead(Value *x) {
    return group == 1 ? x : g.reshape(x, {batches() * keyHeads, width, keys});
  }
  Value *asKeys(Value *x) {
    return g.reshape(x, batched({keyHeads, width, keys}));
  }

  /// dp = dy^T v
  Value *dprobs() {
    Value *dp = g.matmul(together(g.dy()), perKeyHead(g.in(2)), true, false);
    return g.reshape(dp, scores());
  }
  /// The gradient of the masked scores, probs (dp - sum(dp probs)), which is 0
  /// for hidden ones.
  Value *dmasked(Value *probs, Value *dp) {
    return g.mul(probs,
                 g.sub(dp, g.sum(g.mul(dp, probs), int64_t(batch.size()) + 2)));
  }
  /// The gradient of the scores before c tanh(s / c): times 1 - tanh(s / c)^2.
  /// The scores are computed again.
  Value *dscores(Value *dmasked) {
    if (softcap == 0)
      return dmasked;
    Value *s = g.matmul(together(g.mul(g.in(0), scale)), perKeyHead(g.in(1)),
                        true, false);
    s = g.reshape(s, scores());
    Value *bent = g.make(ops::Tanh, {g.div(s, g.scalar(softcap))});
    return g.mul(dmasked, g.from(1, g.square(bent)));
  }
  /// k dscores^T scale
  Value *dq(Value *dscores) {
    Value *k = perKeyHead(g.in(1));
    return g.mul(apart(g.matmul(k, toRows(dscores), false, true)), scale);
  }
  /// (q scale) dscores; the product also sums over the heads that share k.
  Value *dk(Value *dscores) {
    return asKeys(g.matmul(together(g.mul(g.in(0), scale)), toRows(dscores),
                           false, false));
  }
  /// dv = dy probs
  Value *dv(Value *probs) {
    return asKeys(g.matmul(together(g.dy()), toRows(probs), false, false));
  }

private:
  Gradient &g;
};

} // namespace

static bool isFloatMask(const Op &op) {
  const Value *mask = op.operand(param::mask);
  return mask && isFloat(mask->type.dtype);
}

static void gradientSdpa(Gradient &g) {
  AttentionGradient s(g);
  auto probs = [&] {
    Value *mask = g.op.operand(param::mask);
    if (isFloatMask(g.op))
      mask = g.in(maskSlot(g.op.def()));
    llvm::SmallVector<Attr, 4> attrs = {
        {param::causal, g.op.constant(param::causal)},
        {param::window, g.op.constant(param::window)},
        {param::softcap, g.op.constant(param::softcap)}};
    if (const Constant *scale = g.op.constant(param::scoreScale))
      attrs.emplace_back(param::scoreScale, scale);
    return g.make(ops::SdpaProbs, {g.in(0), g.in(1), mask}, attrs);
  };
  auto dmasked = [&] { return s.dmasked(probs(), s.dprobs()); };
  g.give(0, [&] { return s.dq(s.dscores(dmasked())); });
  g.give(1, [&] { return s.dk(s.dscores(dmasked())); });
  g.give(2, [&] { return s.dv(probs()); });
  if (isFloatMask(g.op))
    g.give(maskSlot(g.op.def()), dmasked);
}

static void gradientSdpaProbs(Gradient &g) {
  AttentionGradient s(g);
  auto dmasked = [&] { return s.dmasked(g.out(), g.dy()); };
  g.give(0, [&] { return s.dq(s.dscores(dmasked())); });
  g.give(1, [&] { return s.dk(s.dscores(dmasked())); });
  if (isFloatMask(g.op))
    g.give(maskSlot(g.op.def()), dmasked);
}

//===----------------------------------------------------------------------===//
// The rows
//===----------------------------------------------------------------------===//

static int64_t flopsSdpa(const Op &op) {
  Attention a(op);
  return attentionFlops(
      saturatingProduct({a.batches(), a.heads, a.queries, a.keys}), a.width,
      a.width);
}

static int64_t flopsSdpaProbs(const Op &op) {
  return saturatingProduct(
      {op.result()->type.numElements(), 2 * Attention(op).width + 5});
}

static constexpr ParamDef mask =
    optionalValue(param::mask, {DType::Bool, DType::FP16, DType::FP32}, 0,
                  "broadcasts to [heads, queries, keys]");
static constexpr ParamDef window = integer(param::window, "0");
static constexpr ParamDef scale = {
    param::scoreScale, ParamKind::OptionalConstant, {DType::FP32}, 0, 0};
static constexpr ParamDef softcap =
    number(param::softcap, "0", 0, {DType::FP32});

constinit const OpDef ops::Sdpa = {
    .name = "sdpa",
    .summary =
        "Channel-first attention: v softmax(k^T q * `scale`) per head, where "
        "`scale` defaults to 1 / sqrt(width). Query head h uses key head h / "
        "(heads / key heads). With `causal`, a query attends only to keys up "
        "to its own position; the queries are the last of the keys' positions. "
        "With `window`, it attends only to keys less than `window` positions "
        "away. A float `mask` is added to the scores; a boolean one hides keys "
        "where it is false. The result of a query that sees no key is "
        "unspecified. With `softcap`, scores s become softcap * tanh(s / "
        "softcap) before they are masked. A `window` or `softcap` of 0 is "
        "none.",
    .family = "attention",
    .params = {value(param::q, floats, 'T', "[heads, width, queries]"),
               value(param::k, floats, 'T', "[key heads, width, keys]"),
               value(param::v, floats, 'T', "[key heads, width, keys]"),
               boolean(param::causal, "false"), mask, window, scale, softcap},
    .constraints = {"`q` and `k` have rank 3, or 4 with the same leading "
                    "batch axis",
                    "`v` has the shape of `k`",
                    "`q` and `k` have the same width",
                    "the number of key heads divides the number of query heads",
                    "`causal` and `window` require at least as many keys as "
                    "queries",
                    "`causal` and `window` allow at most 2^26 scores per head, "
                    "because their mask is stored in the program",
                    "`window` and `softcap` are at least 0",
                    "`mask` broadcasts to the scores, and is bool or has the "
                    "element type of `q`; what is hidden gets the lowest "
                    "finite score"},
    .infer = inferSdpa,
    .eval = evalSdpa,
    .decompose = decomposeSdpa,
    .flops = flopsSdpa,
    .gradient = gradientSdpa,
    .positions = {positions::combined},
};

constinit const OpDef ops::SdpaProbs = {
    .name = "sdpa_probs",
    .summary =
        "The attention weights of `sdpa` for the same arguments: [heads, "
        "queries, keys].",
    .family = "attention",
    .params = {value(param::q, floats, 'T', "[heads, width, queries]"),
               value(param::k, floats, 'T', "[key heads, width, keys]"),
               boolean(param::causal, "false"), mask, window, scale, softcap},
    .constraints = {"`q` and `k` have rank 3, or 4 with the same leading "
                    "batch axis",
                    "`q` and `k` have the same width",
                    "the number of key heads divides the number of query heads",
                    "`causal` and `window` require at least as many keys as "
                    "queries",
                    "`causal` and `window` allow at most 2^26 scores per head, "
                    "because their mask is stored in the program",
                    "`window` and `softcap` are at least 0",
                    "`mask` broadcasts to the scores, and is bool or has the "
                    "element type of `q`; what is hidden gets the lowest "
                    "finite score"},
    .infer = inferSdpaProbs,
    .eval = evalSdpaProbs,
    .decompose = decomposeSdpaProbs,
    .flops = flopsSdpaProbs,
    .gradient = gradientSdpaProbs,
    .positions = {positions::combined},
};
