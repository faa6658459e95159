//===- BlockSteps.h - branches and loops ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_BLOCKSTEPS_H
#define ANEC_LIB_RUNTIME_CPU_BLOCKSTEPS_H

#include "Steps.h"

namespace anec::cpu {

StepFn makeCond(const Op &op, StepContext &ctx);
StepFn makeWhileLoop(const Op &op, StepContext &ctx);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_BLOCKSTEPS_H
