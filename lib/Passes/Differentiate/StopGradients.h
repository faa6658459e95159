//===- StopGradients.h - without `stop_gradient` ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_STOPGRADIENTS_H
#define ANEC_LIB_PASSES_STOPGRADIENTS_H

#include "anec/IR/IR.h"

namespace anec {

/// Removes `stop_gradient`, which has a meaning for `differentiate` alone, from
/// all functions: `stop_gradient(x)` is x.
void removeStopGradients(Module &module);
/// Removes `dropout`, which is x where nothing is trained.
void removeDropouts(Module &module);

} // namespace anec

#endif // ANEC_LIB_PASSES_STOPGRADIENTS_H
