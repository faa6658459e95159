//===- AttentionStep.cpp - scaled dot product attention -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Threads share blocks of queries of each head. The scores of a block are a
/// product, their softmax is computed in place, and a second product gives the
/// results, so that scores stay in the cache. Only the results are rounded.
///
//===----------------------------------------------------------------------===//

#include "Broadcast.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Rows/Attention.h"
#include <cmath>

using namespace anec;
using namespace anec::cpu;

namespace {

/// Queries of a block. Fixed, so that results do not depend on the threads.
constexpr size_t queriesOfBlock = 128;

struct AttentionSizes {
  size_t heads, queries, keys, width, outWidth;

  explicit AttentionSizes(const Op &op) {
    llvm::ArrayRef<int64_t> query = op.operand(param::query)->type.shape;
    llvm::ArrayRef<int64_t> values = op.operand(param::value)->type.shape;
    heads = size_t(TensorType(DType::FP32, query.drop_back(2)).numElements());
    queries = size_t(query[query.size() - 2]);
    width = size_t(query.back());
    keys = size_t(values[values.size() - 2]);
    outWidth = size_t(values.back());
  }
  size_t blocks() const {
    return (queries + queriesOfBlock - 1) / queriesOfBlock;
  }
};

/// What is added to the scores; a mask of booleans becomes 0 and -infinity
/// before each run.
struct AddedScores {
  const float *values = nullptr; ///< null for none
  BroadcastRows rows;
  const int32_t *kept = nullptr; ///< the booleans that `values` follow from
  std::vector<float> converted;

  const float *row(size_t number) const {
    return values ? values + rows.offsets[number] : nullptr;
  }
  void convert(Executor &pool) {
    if (!kept)
      return;
    pool.parallelRanges(converted.size(), 16384,
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t i = begin; i < end; ++i)
                            converted[i] = kept[i] ? 0.0f : -INFINITY;
                        });
  }
};

} // namespace

static std::shared_ptr<AddedScores> addedScores(const Op &op,
                                                StepContext &ctx) {
  auto added = std::make_shared<AddedScores>();
  const Value *mask = op.operand(param::attnMask);
  if (!mask)
    return added;
  Shape scores = op.operand(param::query)->type.shape;
  llvm::ArrayRef<int64_t> values = op.operand(param::value)->type.shape;
  scores.back() = values[values.size() - 2];
  added->rows = broadcastRows(mask->type.shape, scores);
  added->values = ctx.storage.floats(mask);
  if (mask->type.dtype == DType::Bool) {
    added->kept = ctx.storage.ints(mask);
    added->converted.resize(size_t(mask->type.numElements()));
    added->values = added->converted.data();
  }
  return added;
}

static StepFn makeAttention(const Op &op, StepContext &ctx) {
  AttentionSizes sizes(op);
  if (op.result()->type.numElements() == 0 || sizes.keys == 0 ||
      sizes.width == 0)
    return {};
  auto added = addedScores(op, ctx);
  if (added->values && added->rows.columnStride == 0)
    return {};
  const float *query = ctx.storage.floats(op.operand(param::query));
  const float *key = ctx.storage.floats(op.operand(param::key));
  const float *value = ctx.storage.floats(op.operand(param::value));
  float *out = ctx.storage.floats(op.result());
  float scale = float(1 / std::sqrt(double(sizes.width)));
  GemmEpilogue rounding{ctx.rounding(op.result())};

  GemmShape toKeys, toValues;
  toKeys.n = toKeys.ldc = toValues.k = toValues.lda = sizes.keys;
  toKeys.k = toKeys.lda = toKeys.ldb = sizes.width;
  toKeys.transB = Transpose::Yes;
  toValues.n = toValues.ldb = toValues.ldc = sizes.outWidth;
  size_t blockScores = std::min(queriesOfBlock, sizes.queries) * sizes.keys;
  return [=, &pool = ctx.pool, &kernels = ctx.products] {
    added->convert(pool);
    auto runBlock = [&](size_t number, unsigned worker) {
      size_t head = number / sizes.blocks();
      size_t first = number % sizes.blocks() * queriesOfBlock;
      size_t count = std::min(queriesOfBlock, sizes.queries - first);
      size_t row = head * sizes.queries + first;
      float *block = pool.outerScratch(worker, blockScores);
      GemmShape shape = toKeys;
      GemmOperands product;
      shape.m = count;
      product.a = query + row * sizes.width;
      product.b = key + head * sizes.keys * sizes.width;
      product.c = block;
      kernels.multiply(pool, shape, product, {});
      for (size_t i = 0; i < count; ++i)
        scaledSoftmaxRow(sizes.keys, block + i * sizes.keys, scale,
                         added->row(row + i), block + i * sizes.keys,
                         Rounding::None);
      shape = toValues;
      shape.m = count;
      product.a = block;
      product.b = value + head * sizes.keys * sizes.outWidth;
      product.c = out + row * sizes.outWidth;
      kernels.multiply(pool, shape, product, rounding);
    };
    pool.parallelFor(sizes.heads * sizes.blocks(), runBlock);
  };
}

static constexpr StepRow attentionStepsTable[] = {
    {&ops::ScaledDotProductAttention, makeAttention},
};

llvm::ArrayRef<StepRow> cpu::attentionSteps() { return attentionStepsTable; }
