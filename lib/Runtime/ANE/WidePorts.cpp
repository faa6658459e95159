//===- WidePorts.cpp - programs with fp32 inputs and outputs --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WidePorts.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Cast.h"

using namespace anec;
using namespace anec::ane;

static TensorType widened(TensorType type) {
  if (type.dtype == DType::FP16)
    type.dtype = DType::FP32;
  return type;
}

std::unique_ptr<Module> ane::widenPorts(const Function &function) {
  auto module = std::make_unique<Module>();
  Function *copy = module->addFunction(FunctionKind::Kernel, function.name);
  copy->opset = function.opset;
  Builder builder(*copy);
  ValueMap map;
  for (const auto &param : function.parameters())
    map[param.get()] = copy->addParameter(widened(param->type), param->name);
  for (const auto &param : function.parameters())
    if (param->type.dtype == DType::FP16)
      map[param.get()] =
          builder.build(ops::Cast, {map[param.get()]},
                        {{param::dtype, DType::FP16}}, param->name);
  for (const Op &op : function.body())
    cloneOp(op, *copy, map);
  std::vector<Value *> results;
  for (const Value *result : function.resultValues())
    results.push_back(result->type.dtype == DType::FP16
                          ? builder.build(ops::Cast, {map[result]},
                                          {{param::dtype, DType::FP32}})
                          : map[result]);
  llvm::ArrayRef<std::string> names = function.resultNames();
  copy->setResults(results,
                   std::vector<llvm::StringRef>(names.begin(), names.end()));
  return module;
}
