//===- Calls.cpp - calls of functions -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Calls.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

Op *anec::buildCall(Builder &builder, const Function &callee,
                    llvm::ArrayRef<Value *> operands) {
  std::vector<std::string> types;
  for (const Value *result : callee.resultValues())
    types.push_back(result->type.str());
  TensorType list(DType::String, {int64_t(types.size())});
  Op *call = builder.create(
      ops::Call, operands,
      {{param::callee, Constant::string(callee.name)},
       {param::results, Constant::strings(list, std::move(types))}});
  for (auto [result, name] :
       llvm::zip_equal(call->resultValues(), callee.resultNames()))
    result->name = name;
  return call;
}
