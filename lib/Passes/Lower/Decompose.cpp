//===- Decompose.cpp - write authoring ops as MIL ops ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An op's row defines its decomposition; this pass only applies it.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Passes/Diags.h"
#include "lib/Passes/Lower/StoredValue.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static void replaceBy(Op &op, llvm::ArrayRef<Value *> results) {
  for (auto [old, value] : llvm::zip_equal(op.resultValues(), results)) {
    assert(old->type == value->type && "a decomposition changed the type");
    if (value->definingOp())
      value->name = old->name;
    old->replaceAllUsesWith(value);
  }
  op.erase();
}

/// The first parameter that Core ML takes only as a constant and that is
/// computed; null without one.
static const ParamDef *computedParameter(const Op &op) {
  unsigned slot = 0;
  for (const ParamDef &param : op.def().parameters()) {
    if (param.isConstant())
      continue;
    const Value *value = slot < op.numOperands() ? op.operand(slot) : nullptr;
    if (param.mustBeStored && value && !isStored(*value))
      return &param;
    ++slot;
  }
  return nullptr;
}

/// The values of the ops that `op` is written as; empty when it stays.
static llvm::SmallVector<Value *, 2> expand(Function &function, Op &op,
                                            PassContext &ctx) {
  Builder builder(function);
  builder.setInsertionPoint(&op);
  llvm::SmallVector<Value *, 2> results;
  if (op.def().decompose) {
    op.def().decompose(builder, op, results);
    return results;
  }
  const ParamDef *computed = computedParameter(op);
  if (!computed)
    return results;
  if (op.def().decomposeComputed)
    if (Value *value = op.def().decomposeComputed(builder, op))
      return {value};
  ctx.diags.report(op.range(), diag::ComputedParameter, op.def().name,
                   computed->name);
  return results;
}

static bool decompose(Function &function, PassContext &ctx) {
  bool changed = false;
  for (auto it = function.body().begin(); it != function.body().end();) {
    Op &op = *it;
    // Continue with the first op of the decomposition: it may decompose
    // further.
    bool first = it == function.body().begin();
    auto before = first ? it : std::prev(it);
    llvm::SmallVector<Value *, 2> results = expand(function, op, ctx);
    if (results.empty()) {
      ++it;
      continue;
    }
    replaceBy(op, results);
    it = first ? function.body().begin() : std::next(before);
    ctx.count("decomposed");
    changed = true;
  }
  return changed;
}

constinit const PassDef passes::Decompose = {
    .name = "decompose",
    .summary =
        "Rewrite authoring ops (attention, norms, rope) as MIL ops, and ops "
        "whose stored parameters are computed",
    .description = "%y = sdpa(%q, %k, %v)  ==>  matmul, mul, add, softmax, "
                   "matmul",
    .stats = {{{"decomposed", "ops rewritten as other ops"}}},
    // Masks, tables and scales become constants of the activations' type.
    .tolerance = 2e-3,
    .run = decompose,
};
