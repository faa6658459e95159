//===- Heads.cpp - per-head views -------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Heads.h"
#include "Decompose.h"
#include "Elementwise.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Positions.h"

namespace anec::param {
ANEC_PARAM(heads, "heads", Int)
} // namespace anec::param

using namespace anec;

//===----------------------------------------------------------------------===//
// split_heads, merge_heads
//===----------------------------------------------------------------------===//

static bool inferSplitHeads(InferContext &ctx) {
  TensorType x = ctx.type(0);
  if (!checkRank(ctx, 0, 2, 3) ||        // C1
      !checkRange(ctx, param::heads, 1)) // C2
    return false;
  int64_t heads = ctx.get(param::heads);
  int64_t &channels = x.shape[x.rank() - 2];
  if (channels % heads) // C3
    return ctx.fail(diag::HeadsUneven(ctx.opName(), channels, heads), {0});
  channels /= heads;
  x.shape.insert(&channels, heads);
  return ctx.result(x);
}

/// Both ops keep the elements in order and change only the shape.
static void decomposeToReshape(Builder &builder, const Op &op,
                               llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  results.push_back(d.reshape(op.operand(0u), op.result()->type.shape));
}

static void gradientSplitHeads(Gradient &g) {
  g.give(0, [&] { return g.make(ops::MergeHeads, {g.dy()}); });
}

constinit const OpDef ops::SplitHeads = {
    .name = "split_heads",
    .summary = "Reshapes [`heads` * width, positions] to [`heads`, width, "
               "positions]. Both may have a leading batch axis.",
    .family = "attention",
    .params = {value(param::x), integer(param::heads)},
    .traits = trait::DataMovement,
    .constraints = {"`x` has rank 2, or 3 with a batch",
                    "`heads` is at least 1",
                    "`heads` divides the channels of `x`"},
    .infer = inferSplitHeads,
    .eval = evalCopy,
    .decompose = decomposeToReshape,
    .gradient = gradientSplitHeads,
    .positions = {positions::reshape},
};

static bool inferMergeHeads(InferContext &ctx) {
  TensorType x = ctx.type(0);
  if (!checkRank(ctx, 0, 3, 4)) // C1
    return false;
  unsigned heads = x.rank() - 3;
  x.shape[heads] *= x.shape[heads + 1];
  x.shape.erase(x.shape.begin() + heads + 1);
  return ctx.result(x);
}

static void gradientMergeHeads(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::SplitHeads, {g.dy()},
                  Attr(param::heads, g.shape(0)[g.rank(0) - 3]));
  });
}

constinit const OpDef ops::MergeHeads = {
    .name = "merge_heads",
    .summary = "Reshapes [heads, width, positions] to [heads * width, "
               "positions]. Both may have a leading batch axis.",
    .family = "attention",
    .params = {value(param::x)},
    .traits = trait::DataMovement,
    .constraints = {"`x` has rank 3, or 4 with a batch"},
    .infer = inferMergeHeads,
    .eval = evalCopy,
    .decompose = decomposeToReshape,
    .gradient = gradientMergeHeads,
    .positions = {positions::reshape},
};
