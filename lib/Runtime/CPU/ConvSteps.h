//===- ConvSteps.h - ways to run a convolution ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_CONVSTEPS_H
#define ANEC_LIB_RUNTIME_CPU_CONVSTEPS_H

#include "Steps.h"

namespace anec::cpu {

/// For groups of few outputs.
StepFn makeDirectConv(const Op &op, StepContext &ctx);
/// For results with more positions than a few, without unfolding the image.
StepFn makeTiledConv(const Op &op, StepContext &ctx);
/// For as many outputs as a vector has and more, and long sums.
StepFn makePanelConv(const Op &op, StepContext &ctx);
/// For kernels with more positions than the result.
StepFn makeWideKernelConv(const Op &op, StepContext &ctx);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_CONVSTEPS_H
