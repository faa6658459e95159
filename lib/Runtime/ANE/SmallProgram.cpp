//===- SmallProgram.cpp - a program to keep the engine busy ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SmallProgram.h"
#include "lib/IR/Builder.h"
#include "lib/Ops/Rows/Arithmetic.h"

using namespace anec;

TensorType ane::smallProgramType() {
  return TensorType(DType::FP16, {1, 64, 1, 64});
}

std::unique_ptr<Module> ane::smallProgram() {
  auto module = std::make_unique<Module>();
  Function *function = module->addFunction(FunctionKind::Kernel, "main");
  Value *x = function->addParameter(smallProgramType(), "x");
  Builder builder(*function);
  function->setResults({builder.build(ops::Add, {x, x}, {}, "y")});
  return module;
}
