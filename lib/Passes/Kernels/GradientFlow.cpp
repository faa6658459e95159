//===- GradientFlow.cpp - what depends on the loss's gradient -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GradientFlow.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

bool GradientFlow::depends(const Op &op) const {
  // An op without results (accumulate) is classified by its operands.
  return llvm::any_of(op.operandValues(), [&](const Value *operand) {
    return operand && depends(operand);
  });
}

bool GradientFlow::hasBackward(const Function &host) const {
  for (const auto &param : host.parameters())
    if (depends(param.get()))
      return true;
  return false;
}

/// Propagates through the ops of `host` and into the bodies it repeats.
void GradientFlow::follow(const Function &host) {
  for (const Op &op : host.body()) {
    if (!depends(op))
      continue;
    if (!op.is(ops::Repeat)) {
      for (const Value *result : op.resultValues())
        dependent.insert(result);
      continue;
    }
    const Function *body = module.findFunction(op.get(param::body));
    if (!body)
      continue;
    for (unsigned slot = 0; slot < op.numOperands(); ++slot)
      if (depends(op.operand(slot)))
        dependent.insert(body->parameters()[slot + 1].get());
    // Values carried to the next iteration depend on it there too.
    unsigned carried = op.get(param::carried);
    for (bool changed = true; changed;) {
      follow(*body);
      changed = false;
      for (unsigned slot = 0; slot < carried; ++slot)
        if (depends(body->result(slot)))
          changed |=
              dependent.insert(body->parameters()[slot + 1].get()).second;
    }
    for (unsigned index = 0; index < op.numResults(); ++index)
      if (depends(body->result(index)))
        dependent.insert(op.result(index));
  }
}

void GradientFlow::find() {
  dependent.clear();
  // All gradients derive from that of the loss.
  for (const auto &host : module.functions)
    if (const Value *seed = host->parameterOf(ValueRole::LossScale)) {
      dependent.insert(seed);
      follow(*host);
    }
}
