//===- Branches.cpp - branches without control flow -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "lib/Ops/Control.h"
#include "lib/Ops/Rows/Control.h"
#include "lib/Ops/Rows/Select.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::legalize;

/// Whether both blocks may be run: a loop in one that is not chosen may never
/// end.
static bool canRunBoth(const Op &op) {
  for (const auto &block : blocksOf(op))
    for (const Op &inner : block->body())
      if (inner.is(ops::WhileLoop) ||
          (inner.is(ops::Cond) && !canRunBoth(inner)))
        return false;
  return true;
}

static bool canSelect(const Value *value) {
  switch (value->type.dtype) {
  case DType::Bool:
  case DType::FP16:
  case DType::FP32:
  case DType::Int32:
    return true;
  default:
    return false;
  }
}

/// The results of a block, whose ops are copied before the op.
static llvm::SmallVector<Value *, 4> inlineBlock(Op &op,
                                                 const Function &block) {
  ValueMap map;
  for (const auto &param : block.parameters())
    map[param.get()] = op.operand(param->index());
  for (const Op &inner : block.body())
    cloneOp(inner, *op.parent(), map, &op);
  llvm::SmallVector<Value *, 4> results;
  for (const Value *result : block.resultValues())
    results.push_back(map.lookup(result));
  return results;
}

/// cond(p) {a} {b} ==> select(p, a, b), for each result
Value *legalize::branchesToSelects(Rewriter &r) {
  if (!r.op.is(ops::Cond) || r.op.numResults() == 0 || !canRunBoth(r.op) ||
      !llvm::all_of(r.op.resultValues(), canSelect))
    return nullptr;
  auto blocks = blocksOf(r.op);
  llvm::SmallVector<Value *, 4> yes = inlineBlock(r.op, *blocks[0]),
                                no = inlineBlock(r.op, *blocks[1]);
  Value *condition = r.reshape(r.op.operand(0u), {}, "condition");
  Value *first = nullptr;
  for (auto [result, a, b] : llvm::zip_equal(r.op.resultValues(), yes, no)) {
    Value *chosen = a;
    if (a != b) {
      chosen = r.make(ops::Select, {condition, a, b});
      chosen->name = result->name;
    }
    // The caller replaces the uses of the first result.
    if (!first)
      first = chosen;
    else
      result->replaceAllUsesWith(chosen);
  }
  return first;
}
