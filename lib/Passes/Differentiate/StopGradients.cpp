//===- StopGradients.cpp - without `stop_gradient` ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StopGradients.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Random.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// Makes the only operand of each op `def` its result.
static void removeAll(Module &module, const OpDef &def) {
  for (const auto &function : module.functions)
    for (Op &op : llvm::make_early_inc_range(function->body())) {
      if (!op.is(def))
        continue;
      op.result()->replaceAllUsesWith(op.operand(0u));
      op.erase();
    }
}

void anec::removeStopGradients(Module &module) {
  removeAll(module, ops::StopGradient);
}

void anec::removeDropouts(Module &module) { removeAll(module, ops::Dropout); }
