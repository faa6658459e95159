//===- ExampleRanges.cpp - how large values are, of examples --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Passes/ExampleRanges.h"
#include "lib/IR/OpDef.h"

using namespace anec;

std::vector<Value *> anec::measuredValues(const Function &function) {
  std::vector<Value *> values;
  auto add = [&](Value *value) {
    if (value->type.dtype == DType::FP32 && value->type.numElements() != 0 &&
        value->holder == Holder::Tensor)
      values.push_back(value);
  };
  for (const auto &param : function.parameters())
    add(param.get());
  for (const Op &op : function.body())
    if (!op.def().has(trait::Stored) && !op.def().has(trait::Constexpr))
      for (Value *result : op.resultValues())
        add(result);
  return values;
}

std::optional<double> FunctionRanges::find(const Value *value) const {
  auto found = largest.find(value);
  if (found == largest.end())
    return std::nullopt;
  return found->second;
}

void ExampleRanges::raise(llvm::StringRef function,
                          llvm::ArrayRef<double> magnitudes) {
  std::vector<double> &known = byFunction[function.str()];
  known.resize(std::max(known.size(), magnitudes.size()));
  for (size_t index = 0; index < magnitudes.size(); ++index)
    known[index] = std::max(known[index], magnitudes[index]);
}

std::optional<FunctionRanges>
ExampleRanges::find(const Function &function) const {
  auto found = byFunction.find(function.name);
  std::vector<Value *> values = measuredValues(function);
  if (found == byFunction.end() || found->second.size() != values.size())
    return std::nullopt;
  FunctionRanges ranges;
  for (size_t index = 0; index < values.size(); ++index)
    ranges.largest[values[index]] = found->second[index];
  return ranges;
}
