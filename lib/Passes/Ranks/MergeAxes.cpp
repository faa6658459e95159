//===- MergeAxes.cpp - values of at most five axes ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Windows, patches and pixels are cut out by reshaping to six axes or more,
/// which neither Core ML nor the engine takes. Each op that reads or makes such
/// a value is computed on fewer axes, between two reshapes; the reshapes of
/// neighbors then cancel, and the value is gone. What an op without a row, or
/// an input or result of the function, needs stays.
///
//===----------------------------------------------------------------------===//

#include "AxisMerger.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Blocks.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;
using namespace anec::ranks;

static bool isWide(const Value &value) { return value.type.rank() > mostAxes; }

/// Arrays of the program. Only ops that unpack weights may read those of many
/// axes: the palettes of a filter have two more than it.
static bool isArray(const Op &op) {
  return op.def().has(trait::Stored) || op.def().has(trait::Constexpr);
}

static bool hasWide(const Op &op) {
  return llvm::any_of(op.operandValues(),
                      [](Value *value) { return value && isWide(*value); }) ||
         llvm::any_of(op.resultValues(),
                      [](Value *value) { return isWide(*value); });
}

static bool mergeOp(Function &function, Op &op, PassContext &ctx) {
  AxisMerger merger(function, op);
  Results results = onMergedAxes(merger);
  if (results.empty())
    return false;
  for (auto [old, value] : llvm::zip_equal(op.resultValues(), results))
    old->replaceAllUsesWith(value);
  op.erase();
  ctx.count("merged");
  return true;
}

/// Reads the value that a chain of reshapes begins with.
static bool shorten(Function &function, Op &op) {
  const Op *inner = op.operand(0u)->definingOp();
  if (!inner || !(inner->is(ops::Reshape) || isArray(*inner)) ||
      !isWide(*op.operand(0u)))
    return false;
  AxisMerger merger(function, op);
  Value *value = merger.view(op.operand(0u), op.result()->type.shape);
  if (value == op.result())
    return false;
  op.result()->replaceAllUsesWith(value);
  return true;
}

/// Erases an op, and the ops before it that nothing else reads.
static void eraseUnused(Op &op) {
  Op *before = op.numOperands() ? op.operand(0u)->definingOp() : nullptr;
  op.erase();
  bool moves = before && before->def().has(trait::DataMovement);
  if (moves && !before->result()->hasUses())
    eraseUnused(*before);
}

static bool mergeAxes(Function &function, PassContext &ctx) {
  bool changed = false;
  for (Op &op : function.body())
    changed |= rewriteBlocks(
        op, [&](Function &block) { return mergeAxes(block, ctx); });
  if (llvm::none_of(function.body(), hasWide))
    return changed;
  // Before the ops in between change.
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    AxisMerger merger(function, op);
    if (Results results = asBlocks(merger); !results.empty()) {
      op.result()->replaceAllUsesWith(results[0]);
      eraseUnused(op);
      ctx.count("blocks");
      changed = true;
    }
  }
  for (Op &op : llvm::make_early_inc_range(function.body()))
    if (!isArray(op) && !op.is(ops::Reshape) && hasWide(op))
      changed |= mergeOp(function, op, ctx);
  for (Op &op : llvm::make_early_inc_range(function.body()))
    if (op.is(ops::Reshape))
      changed |= shorten(function, op);
  for (auto it = function.body().rbegin(); it != function.body().rend();) {
    Op &op = *it++;
    bool isUsed = llvm::any_of(op.resultValues(),
                               [](Value *value) { return value->hasUses(); });
    if (isUsed || op.def().has(trait::SideEffect) || !hasWide(op))
      continue;
    op.erase();
    changed = true;
  }
  return changed;
}

constinit const PassDef passes::MergeAxes = {
    .name = "merge-axes",
    .summary =
        "Compute values of more than five axes with adjacent axes merged",
    .description =
        "%a = reshape(%x) : fp32[1, 2, 4, 2, 4, 8]\n"
        "%b = transpose(%a, [0, 1, 3, 2, 4, 5])\n"
        "    ==>  %a = reshape(%x) : fp32[2, 4, 2, 32]\n"
        "         %b = transpose(%a, [0, 2, 1, 3])\n"
        "Core ML takes no others. pixel_shuffle, depth_to_space and\n"
        "space_to_depth that are written out become these ops.",
    .stats = {{{"merged", "ops on merged axes"},
               {"blocks", "ops of blocks of pixels"}}},
    .tolerance = 1e-9,
    .run = mergeAxes,
};
