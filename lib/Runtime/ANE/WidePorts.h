//===- WidePorts.h - programs with fp32 inputs and outputs ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_WIDEPORTS_H
#define ANEC_LIB_RUNTIME_ANE_WIDEPORTS_H

#include "anec/IR/IR.h"

namespace anec::ane {

/// A module with a copy of `function` whose fp16 inputs and outputs are fp32,
/// cast at once and at last: the same results for inputs that are values of
/// fp16. Names of inputs and outputs stay.
std::unique_ptr<Module> widenPorts(const Function &function);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_WIDEPORTS_H
