//===- ParametersOf.cpp - what a value is computed from -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/ParametersOf.h"

using namespace anec;

llvm::SetVector<Value *> anec::parametersOf(Value *value) {
  llvm::SetVector<Value *> seen, parameters;
  seen.insert(value);
  for (size_t i = 0; i != seen.size(); ++i) {
    const Op *op = seen[i]->definingOp();
    if (!op)
      parameters.insert(seen[i]);
    else
      for (Value *operand : op->operandValues())
        if (operand)
          seen.insert(operand);
  }
  return parameters;
}

std::string anec::namesOf(const llvm::SetVector<Value *> &values) {
  std::string names;
  for (const Value *value : values)
    names += (names.empty() ? "`" : ", `") + value->name + "`";
  return names;
}
