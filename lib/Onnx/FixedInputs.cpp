//===- FixedInputs.cpp - inputs whose values decide shapes ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FixedInputs.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::onnx;

bool InputsOf::areGiven(const FixedInputs &inputs) const {
  return llvm::all_of(parameters, [&](Value *parameter) {
    return inputs.given.contains(parameter->name);
  });
}

void InputsOf::fix(FixedInputs &inputs) const {
  for (Value *parameter : parameters)
    inputs.fixed.insert(parameter->name);
  inputs.changed = true;
}

bool onnx::keepWeightsOf(Value *value, SourceWeights *weights,
                         bool isParameter) {
  if (!weights || !value)
    return false;
  bool isKept = false;
  llvm::SetVector<Value *> seen;
  seen.insert(value);
  for (size_t i = 0; i != seen.size(); ++i) {
    const Op *op = seen[i]->definingOp();
    if (!op)
      continue;
    if (op->is(ops::Weight))
      isKept |= weights->keep(op->get(param::name), isParameter);
    for (Value *operand : op->operandValues())
      if (operand)
        seen.insert(operand);
  }
  return isKept;
}
