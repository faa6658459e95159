//===- AttentionOpsStep.cpp - the ops of attention as one step ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Threads share blocks of rows, which are queries. The scores of a block stay
/// in the cache, those of all parts side by side, and keys that the masks hide
/// from all its rows are not read: their weights are 0, as e^(hidden - seen) is
/// in fp32 where the seen score is not itself among the lowest. Everything is
/// rounded as the separate ops do.
///
//===----------------------------------------------------------------------===//

#include "AttentionOps.h"
#include "Steps.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/HiddenScore.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// Rows of a block. Fixed, so that results do not depend on the threads.
constexpr size_t queriesPerBlock = 64;

struct Part {
  GemmShape scores, values;
  const float *q, *k, *v;
  size_t qStride, kStride, vStride; ///< from product to product
  size_t keys;
  const float *mask = nullptr;
  size_t maskStride = 0; ///< from query to query
  float hidden = 0;      ///< what the mask has where it hides
  Rounding scoreRounding, valueRounding;
};

struct Attention {
  std::vector<Part> parts;
  size_t products, rows, queries, keys = 0, width;
  float *out;
  Rounding probRounding, sumRounding = Rounding::None;

  size_t blocks() const {
    return (rows + queriesPerBlock - 1) / queriesPerBlock;
  }
  size_t scratch() const { return queriesPerBlock * (keys + width); }
  void run(size_t task, const ProductKernels &kernels, Executor &pool,
           unsigned worker) const;

private:
  using Ends = llvm::SmallVector<size_t, 2>;
  Ends allKeys() const;
  Ends seenKeys(size_t first, size_t count) const;
  bool weigh(size_t product, size_t first, size_t count, const Ends &ends,
             float *scores, const ProductKernels &kernels,
             Executor &pool) const;
};

} // namespace

static size_t matrix(const Value *value) {
  const Shape &shape = value->type.shape;
  return size_t(shape[shape.size() - 2] * shape.back());
}

static Part makePart(const AttentionPart &ops, StepContext &ctx) {
  Part part;
  const Value *q = ops.scores->operand(0u), *k = ops.scores->operand(1u),
              *v = ops.values->operand(0u), *out = ops.values->result();
  auto transposed = [](bool is) { return is ? Transpose::Yes : Transpose::No; };
  part.keys = size_t(ops.keys());
  part.q = ctx.storage.floats(q);
  part.k = ctx.storage.floats(k);
  part.v = ctx.storage.floats(v);
  part.qStride = matrix(q);
  part.kStride = matrix(k);
  part.vStride = matrix(v);
  GemmShape &scores = part.scores, &values = part.values;
  scores.transA = transposed(ops.scores->get(param::transposeX));
  scores.transB = transposed(ops.scores->get(param::transposeY));
  scores.lda = size_t(q->type.shape.back());
  scores.ldb = size_t(k->type.shape.back());
  scores.k = part.kStride / part.keys;
  values.m = matrix(out) / size_t(out->type.shape.back());
  values.transA = transposed(ops.values->get(param::transposeX));
  values.transB = Transpose::Yes;
  values.lda = size_t(v->type.shape.back());
  part.scoreRounding = ctx.rounding(ops.scores->result());
  part.valueRounding = ctx.rounding(out);
  if (ops.mask) {
    part.mask = ctx.storage.floats(ops.mask);
    part.maskStride = ops.isMaskPerQuery() ? part.keys : 0;
    part.hidden = float(hiddenScore(ops.mask->type.dtype));
  }
  return part;
}

Attention::Ends Attention::allKeys() const {
  Ends ends;
  for (const Part &part : parts)
    ends.push_back(part.keys);
  return ends;
}

/// Of each part, the number of keys up to the last one that a row of the block
/// sees; all keys if a row sees none.
Attention::Ends Attention::seenKeys(size_t first, size_t count) const {
  Ends ends(parts.size());
  for (size_t row = first; row < first + count; ++row) {
    bool sees = false;
    for (auto [part, end] : llvm::zip_equal(parts, ends)) {
      size_t seen = part.keys;
      if (part.mask) {
        const float *mask = part.mask + row % queries * part.maskStride;
        while (seen > 0 && mask[seen - 1] <= part.hidden)
          --seen;
      }
      end = std::max(end, seen);
      sees |= seen > 0;
    }
    if (!sees)
      return allKeys();
  }
  return ends;
}

/// Computes the weights of the first keys of each part, side by side. Returns
/// false when others can have weights, too: a row has low scores only.
bool Attention::weigh(size_t product, size_t first, size_t count,
                      const Ends &ends, float *scores,
                      const ProductKernels &kernels, Executor &pool) const {
  size_t all = 0;
  for (size_t end : ends)
    all += end;
  size_t column = 0;
  float lowest = 0;
  for (auto [part, end] : llvm::zip_equal(parts, ends)) {
    GemmShape shape = part.scores;
    shape.m = count;
    shape.n = end;
    shape.ldc = all;
    bool isTransposed = shape.transA == Transpose::Yes;
    GemmOperands operands;
    operands.a = part.q + product * part.qStride +
                 first * (isTransposed ? 1 : shape.lda);
    operands.b = part.k + product * part.kStride;
    operands.c = scores + column;
    if (end > 0)
      kernels.multiply(pool, shape, operands, {part.scoreRounding});
    for (size_t row = 0; part.mask && row < count; ++row) {
      float *to = scores + row * all + column;
      binary(Binary::Min, end, to, 1,
             part.mask + (first + row) % queries * part.maskStride, 1, to,
             Rounding::None);
    }
    if (end < part.keys)
      lowest = std::min(lowest, part.hidden);
    column += end;
  }
  for (size_t row = 0; row < count; ++row) {
    float *scored = scores + row * all;
    if (lowest < 0 &&
        !(reduceRow(Reduce::Max, all, scored, Rounding::None) > lowest / 2))
      return false;
    softmaxRow(all, scored, scored, probRounding);
  }
  return true;
}

void Attention::run(size_t task, const ProductKernels &kernels, Executor &pool,
                    unsigned worker) const {
  size_t product = task / blocks(), first = task % blocks() * queriesPerBlock;
  size_t count = std::min(queriesPerBlock, rows - first);
  float *scores = pool.outerScratch(worker, scratch());
  float *second = scores + queriesPerBlock * keys;
  Ends ends = seenKeys(first, count);
  if (!weigh(product, first, count, ends, scores, kernels, pool)) {
    ends = allKeys();
    bool isWhole = weigh(product, first, count, ends, scores, kernels, pool);
    assert(isWhole && "no key is left out");
    (void)isWhole;
  }
  size_t all = 0, column = 0;
  for (size_t end : ends)
    all += end;
  float *result = out + product * width * rows + first;
  for (auto [number, part] : llvm::enumerate(parts)) {
    GemmShape shape = part.values;
    shape.n = count;
    shape.k = ends[number];
    shape.ldb = all;
    shape.ldc = number == 0 ? rows : count;
    GemmOperands operands;
    operands.a = part.v + product * part.vStride;
    operands.b = scores + column;
    operands.c = number == 0 ? result : second;
    kernels.multiply(pool, shape, operands, {part.valueRounding});
    column += ends[number];
  }
  for (size_t i = 0; parts.size() > 1 && i < width; ++i)
    binary(Binary::Add, count, result + i * rows, 1, second + i * count, 1,
           result + i * rows, sumRounding);
}

StepFn cpu::makeAttentionOps(const Step &step, StepContext &ctx) {
  AttentionOps ops = *attentionBefore(*step.ops.back(), ctx.numerics);
  auto attention = std::make_shared<Attention>();
  for (const AttentionPart &part : ops.parts) {
    attention->parts.push_back(makePart(part, ctx));
    attention->keys += size_t(part.keys());
  }
  attention->products = size_t(ops.products());
  attention->rows = size_t(ops.rows());
  attention->queries = size_t(ops.queries());
  attention->width = attention->parts[0].values.m;
  attention->out = ctx.storage.floats(step.ops.back()->result());
  attention->probRounding = ctx.rounding(ops.softmax->result());
  if (ops.sum)
    attention->sumRounding = ctx.rounding(ops.sum->result());
  return [attention, &pool = ctx.pool, &kernels = ctx.products] {
    pool.parallelFor(attention->products * attention->blocks(),
                     [&](size_t task, unsigned worker) {
                       attention->run(task, kernels, pool, worker);
                     });
  };
}
