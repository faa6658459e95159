//===- Evaluate.cpp - ops on constants ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Evaluate.h"
#include "lib/IR/Elements.h"

using namespace anec;

std::vector<RefTensor>
anec::evaluateExactly(const Op &op,
                      llvm::ArrayRef<const RefTensor *> operands) {
  std::vector<RefTensor> results;
  for (const Value *result : op.resultValues())
    results.push_back(
        {result->type, std::vector<double>(result->type.numElements())});
  EvalContext eval{op.def(), op.constants(), operands, results};
  op.def().eval(eval);
  return results;
}

std::vector<RefTensor>
anec::evaluateRounded(const Op &op, llvm::ArrayRef<const RefTensor *> operands,
                      bool widensHalf) {
  std::vector<RefTensor> results = evaluateExactly(op, operands);
  for (RefTensor &result : results) {
    DType dtype = result.type.dtype;
    if (!isFloat(dtype) || isMinifloat(dtype))
      continue;
    if (widensHalf && dtype == DType::FP16)
      dtype = DType::FP32;
    for (double &element : result.data)
      element = roundToDType(element, dtype);
  }
  return results;
}
