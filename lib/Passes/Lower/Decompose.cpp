//===- Decompose.cpp - write authoring ops as MIL ops ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An op's row defines its decomposition; this pass only applies it.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/Builder.h"
#include "anec/Passes/Pass.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static void replaceByDecomposition(Function &function, Op &op) {
  Builder builder(function);
  builder.setInsertionPoint(&op);
  llvm::SmallVector<Value *, 2> results;
  op.def().decompose(builder, op, results);
  for (auto [old, value] : llvm::zip_equal(op.resultValues(), results)) {
    assert(old->type == value->type && "a decomposition changed the type");
    if (value->definingOp())
      value->name = old->name;
    old->replaceAllUsesWith(value);
  }
  op.erase();
}

static bool decompose(Function &function, PassContext &ctx) {
  bool changed = false;
  for (auto it = function.body().begin(); it != function.body().end();) {
    Op &op = *it;
    if (!op.def().decompose) {
      ++it;
      continue;
    }
    // Continue with the first op of the decomposition: it may decompose
    // further.
    bool first = it == function.body().begin();
    auto before = first ? it : std::prev(it);
    replaceByDecomposition(function, op);
    it = first ? function.body().begin() : std::next(before);
    ctx.count("decomposed");
    changed = true;
  }
  return changed;
}

constinit const PassDef passes::Decompose = {
    .name = "decompose",
    .summary = "Rewrite authoring ops (attention, norms, rope) as MIL ops",
    .description = "%y = sdpa(%q, %k, %v)  ==>  matmul, mul, add, softmax, "
                   "matmul",
    .stats = {{{"decomposed", "ops rewritten as other ops"}}},
    // Masks, tables and scales become constants of the activations' type.
    .tolerance = 2e-3,
    .run = decompose,
};
