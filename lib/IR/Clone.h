//===- Clone.h - copies of ops and functions -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_CLONE_H
#define ANEC_LIB_IR_CLONE_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"

namespace anec {

/// Maps each value to its counterpart in the copy.
using ValueMap = llvm::DenseMap<const Value *, Value *>;

/// A copy of `op` with `operands`, not inserted into any function.
Op *copyOp(const Op &op, llvm::ArrayRef<Value *> operands);

/// Adds a copy of `op` to `to`, before `before` (null: at the end). `map` must
/// have its operands, and its results are added.
Op *cloneOp(const Op &op, Function &to, ValueMap &map, Op *before = nullptr);

/// Adds copies of the parameters and ops of `from` to `to`, and of its results
/// too when `withResults`, with their roles. The role of `to` itself is
/// unchanged.
void cloneBody(const Function &from, Function &to, ValueMap &map,
               bool withResults = true);

} // namespace anec

#endif // ANEC_LIB_IR_CLONE_H
