//===- CachedAttention.cpp - attention over a cache and a block -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// sdpa_cached, which the `incremental` pass makes of causal `sdpa`: the
/// queries of a block of new positions see cached keys and those of the block.
/// The scores of both are concatenated, not the keys: a cache is much larger,
/// and is only read. A block that starts a text has no caches.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/CachedAttention.h"
#include "Attention.h"
#include "Decompose.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>

namespace anec::param {
ANEC_PARAM(blockMask, "block_mask", Value)
ANEC_PARAM(kCache, "k_cache", Value)
ANEC_PARAM(vCache, "v_cache", Value)
} // namespace anec::param

using namespace anec;

namespace {

/// Sizes and score parameters. A batch counts as more heads.
struct CachedAttention {
  Shape batch; ///< empty, or the leading extent
  int64_t heads, width, block, keyHeads, cached, group;
  double scale, softcap;

  /// `Context` is an Op, an InferContext or an EvalContext; `cache` is the
  /// type of the cached keys, null for none.
  template <typename Context>
  CachedAttention(const Context &ctx, llvm::ArrayRef<int64_t> q,
                  llvm::ArrayRef<int64_t> k, const TensorType *cache)
      : batch(q.drop_back(3)), heads(q[q.size() - 3]), width(q[q.size() - 2]),
        block(q.back()), keyHeads(k[k.size() - 3]),
        cached(cache ? cache->shape.back() : 0), group(heads / keyHeads),
        softcap(ctx.get(param::softcap)) {
    scale = ctx.constant(param::scoreScale) ? ctx.get(param::scoreScale)
                                            : 1 / std::sqrt(double(width));
  }
  explicit CachedAttention(const Op &op)
      : CachedAttention(op, op.operand(param::q)->type.shape,
                        op.operand(param::k)->type.shape,
                        op.operand(param::kCache)
                            ? &op.operand(param::kCache)->type
                            : nullptr) {}

  int64_t batches() const { return batch.empty() ? 1 : batch[0]; }
  int64_t allKeyHeads() const { return batches() * keyHeads; }
  int64_t keys() const { return cached + block; }
};

} // namespace

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// The caches and their mask, which a block has or lacks together.
static bool inferCaches(InferContext &ctx, const CachedAttention &a) {
  Shape cache = a.batch;
  cache.append({a.keyHeads, a.width, a.cached});
  if (!checkShape(ctx, 3, cache) || !checkShape(ctx, 4, cache)) // C3
    return false;
  const Shape &mask = ctx.type(5).shape; // C5
  if (mask.size() != 2 || (mask[0] != 1 && mask[0] != a.block) ||
      mask[1] != a.cached)
    return ctx.fail(diag::MaskMismatch(ctx.opName(), ctx.describeOperand(5),
                                       shapeToString(Shape{a.block, a.cached})),
                    {5});
  return true;
}

static bool inferSdpaCached(InferContext &ctx) {
  unsigned rank = ctx.type(0).rank();
  bool hasCaches = ctx.hasOperand(3);
  if (ctx.hasOperand(4) != hasCaches || ctx.hasOperand(5) != hasCaches)
    return ctx.fail(diag::CachesTogether(ctx.opName()), {0});
  if (!checkRank(ctx, 0, 3, 4) || !checkRank(ctx, 1, rank, rank) ||
      (hasCaches && !checkRank(ctx, 3, rank, rank))) // C1
    return false;
  llvm::ArrayRef<int64_t> q = ctx.type(0).shape, k = ctx.type(1).shape;
  CachedAttention a(ctx, q, k, hasCaches ? &ctx.type(3) : nullptr);
  Shape key = a.batch;
  key.append({a.keyHeads, a.width, a.block});
  if (!checkShape(ctx, 1, key) || !checkShape(ctx, 2, key)) // C2
    return false;
  if (a.heads % a.keyHeads) // C4
    return ctx.fail(diag::AttentionHeads(ctx.opName(), a.heads, a.keyHeads),
                    {0, 1});
  if (hasCaches && !inferCaches(ctx, a))
    return false;
  if (ctx.hasOperand(6) ? !checkShape(ctx, 6, {a.block, a.block})
                        : a.block != 1) // C6
    return ctx.hasOperand(6)
               ? false
               : ctx.fail(diag::BlockMaskMissing(ctx.opName(), a.block), {0});
  if (!(a.softcap >= 0) || std::isinf(a.softcap))
    return failNumber(ctx, param::softcap, "at least 0");
  if (!std::isfinite(a.scale))
    return failNumber(ctx, param::scoreScale, "a finite number");
  return inferSame(ctx);
}

//===----------------------------------------------------------------------===//
// Reference
//===----------------------------------------------------------------------===//

/// The attention weights of head `h`: [block, cached + block].
static std::vector<double> probsOfQuery(EvalContext &ctx,
                                        const CachedAttention &a, int64_t h) {
  const RefTensor *mask = operandOrNull(ctx, 5);
  bool isPerQuery = mask && mask->type.shape[0] != 1;
  const RefTensor *blockMask = operandOrNull(ctx, 6);
  const double *q = &ctx.in[0]->data[h * a.width * a.block];
  const double *k = &ctx.in[1]->data[h / a.group * a.width * a.block];
  const double *cache =
      mask ? &ctx.in[3]->data[h / a.group * a.width * a.cached] : nullptr;
  std::vector<double> scores(a.block * a.keys());
  for (int64_t i = 0; i < a.block; ++i) {
    double *row = &scores[i * a.keys()];
    for (int64_t j = 0; j < a.keys(); ++j) {
      bool isCached = j < a.cached;
      const double *key = isCached ? cache + j : k + (j - a.cached);
      int64_t stride = isCached ? a.cached : a.block;
      double score = 0;
      for (int64_t d = 0; d < a.width; ++d)
        score += q[d * a.block + i] * key[d * stride];
      score *= a.scale;
      if (a.softcap != 0)
        score = a.softcap * std::tanh(score / a.softcap);
      if (isCached)
        score =
            std::min(score, mask->data[(isPerQuery ? i * a.cached : 0) + j]);
      else if (blockMask)
        score = std::min(score, blockMask->data[i * a.block + j - a.cached]);
      row[j] = score;
    }
    softmaxInPlace(row, a.keys(), 1);
  }
  return scores;
}

static void evalSdpaCached(EvalContext &ctx) {
  const RefTensor *keys = operandOrNull(ctx, 3);
  CachedAttention a(ctx, ctx.in[0]->type.shape, ctx.in[1]->type.shape,
                    keys ? &keys->type : nullptr);
  for (int64_t h = 0; h < a.batches() * a.heads; ++h) {
    std::vector<double> probs = probsOfQuery(ctx, a, h);
    const double *v = &ctx.in[2]->data[h / a.group * a.width * a.block];
    const double *cache =
        keys ? &ctx.in[4]->data[h / a.group * a.width * a.cached] : nullptr;
    for (int64_t d = 0; d < a.width; ++d)
      for (int64_t i = 0; i < a.block; ++i) {
        const double *row = &probs[i * a.keys()];
        double sum = 0;
        for (int64_t j = 0; j < a.cached; ++j)
          sum += row[j] * cache[d * a.cached + j];
        for (int64_t j = 0; j < a.block; ++j)
          sum += row[a.cached + j] * v[d * a.block + j];
        ctx.out[0].data[(h * a.width + d) * a.block + i] = sum;
      }
  }
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

namespace {

class CachedDecomposition : CachedAttention {
public:
  CachedDecomposition(Builder &builder, const Op &op)
      : CachedAttention(op), d(builder, op), op(op) {}

  Value *run() {
    Value *q = d.make(
        ops::Mul, {op.operand(param::q), d.scalar(scale, "scale")}, "scaled");
    q = together(q);
    Value *out = op.operand(param::kCache) ? afterCache(q) : ofBlockAlone(q);
    return isShaped() ? apart(out) : out;
  }

private:
  bool isShaped() const { return group > 1 || !batch.empty(); }
  std::string resultName() const { return isShaped() ? "out_rows" : ""; }

  Value *scoresOfBlock(Value *q) {
    Value *scored = scores(q, op.operand(param::k), block, "block");
    Value *own = op.operand(param::blockMask);
    if (!own)
      return scored;
    own = d.reshape(own, {1, block, block}, "block_mask");
    return d.make(ops::Minimum, {scored, own}, "block_masked");
  }
  Value *afterCache(Value *q) {
    Value *ofCache = scores(q, op.operand(param::kCache), cached, "cached");
    Value *mask = op.operand(param::mask);
    mask = d.reshape(mask, {1, mask->type.shape[0], cached}, "mask");
    ofCache = d.make(ops::Minimum, {ofCache, mask}, "cached_masked");
    Value *all = d.make(ops::Concat, {ofCache, scoresOfBlock(q)},
                        Attr(param::axis, 2), "scores");
    Value *probs = d.make(ops::Softmax, {all}, "probs");
    Value *fromCache = product(op.operand(param::vCache),
                               part(probs, 0, cached, "from_cache_probs"),
                               cached, "from_cache", "from_cache");
    Value *fromBlock = product(op.operand(param::v),
                               part(probs, cached, block, "from_block_probs"),
                               block, "from_block", "from_block");
    return d.make(ops::Add, {fromCache, fromBlock}, resultName());
  }
  Value *ofBlockAlone(Value *q) {
    Value *probs = d.make(ops::Softmax, {scoresOfBlock(q)}, "probs");
    return product(op.operand(param::v), probs, block, "block", resultName());
  }

  /// [batch * heads, width, block] -> [batch * key heads, width, group *
  /// block], so that one product per key head serves all heads of its group.
  Value *together(Value *x) {
    if (group > 1) {
      x = d.reshape(x, {allKeyHeads(), group, width, block}, "q_grouped");
      x = d.transpose(x, {0, 2, 1, 3}, "q_together");
    }
    return shaped(x, {allKeyHeads(), width, group * block}, "q_rows");
  }
  Value *apart(Value *x) {
    if (group > 1) {
      x = d.reshape(x, {allKeyHeads(), width, group, block}, "out_together");
      x = d.transpose(x, {0, 2, 1, 3}, "out_grouped");
    }
    return d.reshape(x, op.result()->type.shape);
  }
  Value *shaped(Value *x, const Shape &shape, llvm::StringRef part) {
    return x->type.shape == shape ? x : d.reshape(x, shape, part);
  }
  /// [batch * heads, block, keys]
  Value *scores(Value *q, Value *k, int64_t keys, const std::string &part) {
    k = shaped(k, {allKeyHeads(), width, keys}, part + "_keys");
    Value *scores = d.make(ops::Matmul, {q, k}, Attr(param::transposeX, true),
                           part + "_scores");
    scores = shaped(scores, {batches() * heads, block, keys},
                    part + "_scores_per_head");
    if (softcap == 0)
      return scores;
    Value *cap = d.scalar(softcap, part + "_cap");
    scores = d.make(ops::RealDiv, {scores, cap}, part + "_of_cap");
    scores = d.make(ops::Tanh, {scores}, part + "_bent");
    return d.make(ops::Mul, {scores, cap}, part + "_capped");
  }
  /// The weights of `count` keys from `first` on.
  Value *part(Value *probs, int64_t first, int64_t count,
              llvm::StringRef name) {
    return d.make(ops::SliceBySize, {probs},
                  {Attr(param::begin, Shape{0, 0, first}),
                   Attr(param::size, Shape{batches() * heads, block, count})},
                  name);
  }
  /// v probs^T, of `count` keys: [batch * key heads, width, group * block]
  Value *product(Value *v, Value *probs, int64_t count, const std::string &part,
                 const std::string &name) {
    v = shaped(v, {allKeyHeads(), width, count}, part + "_values");
    probs =
        shaped(probs, {allKeyHeads(), group * block, count}, part + "_rows");
    return d.make(ops::Matmul, {v, probs}, Attr(param::transposeY, true), name);
  }

  Decomposition d;
  const Op &op;
};

} // namespace

static void decomposeSdpaCached(Builder &builder, const Op &op,
                                llvm::SmallVectorImpl<Value *> &results) {
  results.push_back(CachedDecomposition(builder, op).run());
}

static int64_t flopsSdpaCached(const Op &op) {
  CachedAttention a(op);
  return attentionFlops(
      saturatingProduct({a.batches(), a.heads, a.block, a.keys()}), a.width,
      a.width);
}

constinit const OpDef ops::SdpaCached = {
    .name = "sdpa_cached",
    .summary =
        "`sdpa` of a block of positions that follow cached ones: the scores of "
        "cached keys are at most `mask`, and those of the keys of the block at "
        "most `block_mask`: the largest number shows a key, and the lowest "
        "hides it. Without caches, the block starts a text. `scale` and "
        "`softcap` are those of `sdpa`.",
    .family = "attention",
    .params = {value(param::q, floats, 'T', "[heads, width, block]"),
               value(param::k, floats, 'T', "[key heads, width, block]"),
               value(param::v, floats, 'T', "[key heads, width, block]"),
               optionalValue(param::kCache, floats, 'T',
                             "[key heads, width, cached]"),
               optionalValue(param::vCache, floats, 'T',
                             "[key heads, width, cached]"),
               optionalValue(param::mask, floats, 'T', "[1 or block, cached]"),
               optionalValue(param::blockMask, floats, 'T', "[block, block]"),
               ParamDef{param::scoreScale,
                        ParamKind::OptionalConstant,
                        {DType::FP32},
                        0,
                        0},
               number(param::softcap, "0", 0, {DType::FP32})},
    .traits = trait::NotCallable,
    .constraints = {"`q`, `k` and `k_cache` have rank 3, or 4 with the same "
                    "leading batch axis",
                    "`k` and `v` have the width and the block of `q`",
                    "the caches have the heads and the width of `k`, and the "
                    "same number of positions; they and `mask` are present or "
                    "absent together",
                    "the number of key heads divides the number of query heads",
                    "`mask` is [1, cached] or [block, cached]",
                    "`block_mask` is [block, block]; it can be absent from a "
                    "block of 1",
                    "`softcap` is at least 0, and `scale` is finite"},
    .infer = inferSdpaCached,
    .eval = evalSdpaCached,
    .decompose = decomposeSdpaCached,
    .flops = flopsSdpaCached,
    .positions = {positions::combined},
};
