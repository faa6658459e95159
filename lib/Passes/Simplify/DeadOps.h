//===- DeadOps.h - removal of unused ops ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_DEADOPS_H
#define ANEC_LIB_PASSES_DEADOPS_H

#include "anec/IR/IR.h"

namespace anec {

/// Removes the ops whose results have no uses. Returns their number.
unsigned removeDeadOps(Function &function);

} // namespace anec

#endif // ANEC_LIB_PASSES_DEADOPS_H
