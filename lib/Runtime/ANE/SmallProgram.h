//===- SmallProgram.h - a program to keep the engine busy -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_SMALLPROGRAM_H
#define ANEC_LIB_RUNTIME_ANE_SMALLPROGRAM_H

#include "anec/IR/IR.h"

namespace anec::ane {

/// The smallest input that every chip accepts.
TensorType smallProgramType();
/// `y = x + x` of that type.
std::unique_ptr<Module> smallProgram();

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_SMALLPROGRAM_H
