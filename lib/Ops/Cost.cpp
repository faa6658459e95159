//===- Cost.cpp - operations and bytes of a function ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Cost.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/Constants.h"

using namespace anec;

int64_t anec::countFlops(const Op &op) {
  if (op.def().flops)
    return op.def().flops(op);
  return op.def().has(trait::Elementwise) ? op.result()->type.numElements() : 0;
}

Cost anec::countCost(const Function &function) {
  Cost cost;
  for (const auto &param : function.parameters())
    cost.inputBytes += param->type.numBytes();
  for (const Value *result : function.resultValues())
    cost.outputBytes += result->type.numBytes();
  for (const Op &op : function.body()) {
    if (op.is(ops::Const) || op.is(ops::Weight)) {
      cost.weightBytes += op.result()->type.numBytes();
      continue;
    }
    ++cost.ops;
    cost.flops += countFlops(op);
  }
  return cost;
}
