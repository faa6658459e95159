//===- StopGradients.cpp - without `stop_gradient` ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StopGradients.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

void anec::removeStopGradients(Module &module) {
  for (const auto &function : module.functions)
    for (Op &op : llvm::make_early_inc_range(function->body())) {
      if (!op.is(ops::StopGradient))
        continue;
      op.result()->replaceAllUsesWith(op.operand(0u));
      op.erase();
    }
}
