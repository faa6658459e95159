//===- DCE.cpp - dead code elimination ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DeadOps.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

unsigned anec::removeDeadOps(Function &function) {
  unsigned removed = 0;
  // Backwards, so that an op's operands become dead before they are reached.
  for (Op &op : llvm::make_early_inc_range(llvm::reverse(function.body()))) {
    bool isUsed = llvm::any_of(op.resultValues(), [](const Value *result) {
      return result->hasUses();
    });
    if (isUsed || op.def().has(trait::SideEffect))
      continue;
    op.erase();
    ++removed;
  }
  return removed;
}

static bool eliminateDeadOps(Function &function, PassContext &ctx) {
  unsigned removed = removeDeadOps(function);
  ctx.count("removed", removed);
  return removed != 0;
}

constinit const PassDef passes::DCE = {
    .name = "dce",
    .summary = "Remove ops whose results are unused",
    .description = "%y = exp(%x), %y not used  ==>  (removed)",
    .stats = {{{"removed", "ops removed"}}},
    .tolerance = 0,
    .run = eliminateDeadOps,
};
