//===- Alignment.h - pairs the ops of two programs --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_ALIGNMENT_H
#define ANEC_LIB_MIL_ALIGNMENT_H

#include "anec/IR/IR.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec::mil {

/// Calls `pair` for the ops of both functions, except constants: with two
/// corresponding ops, which have the same kind, or with one and null. Ops that
/// compute the same correspond wherever they are; the others in order.
/// `isCounterpart` returns whether two values are results of paired ops, or
/// corresponding parameters.
void alignOps(
    const Function &left, const Function &right,
    llvm::function_ref<bool(const Value *, const Value *)> isCounterpart,
    llvm::function_ref<void(const Op *, const Op *)> pair);

} // namespace anec::mil

#endif // ANEC_LIB_MIL_ALIGNMENT_H
