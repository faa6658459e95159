//===- DCE.cpp - remove what nobody uses ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/OpDef.h"
#include "anec/Passes/Pass.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static bool isDead(const Op &op) {
  return !op.def().has(trait::SideEffect) &&
         llvm::none_of(op.resultValues(),
                       [](const Value *result) { return result->hasUses(); });
}

static bool eliminateDeadOps(Function &function, PassContext &ctx) {
  bool changed = false;
  // Backwards, so that an op's operands become dead before they are reached.
  for (Op &op : llvm::make_early_inc_range(llvm::reverse(function.body()))) {
    if (!isDead(op))
      continue;
    op.erase();
    ctx.count("removed");
    changed = true;
  }
  return changed;
}

constinit const PassDef passes::DCE = {
    .name = "dce",
    .summary = "Remove ops whose results nobody uses",
    .description = "%y = exp(%x), %y not used  ==>  nothing",
    .stats = {{{"removed", "ops removed"}}},
    .tolerance = 0,
    .run = eliminateDeadOps,
};
