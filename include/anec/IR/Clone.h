//===- Clone.h - copies of ops and functions -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_CLONE_H
#define ANEC_IR_CLONE_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"

namespace anec {

/// What stands for a value in the copy.
using ValueMap = llvm::DenseMap<const Value *, Value *>;

/// The op on `operands`, not linked in anywhere.
Op *copyOp(const Op &op, llvm::ArrayRef<Value *> operands);

/// Adds a copy of `op` to `to`, before `before` (null: at the end). `map` has
/// what stands for its operands, and gets its results.
Op *cloneOp(const Op &op, Function &to, ValueMap &map, Op *before = nullptr);

/// Adds copies of the parameters and ops of `from` to `to`, and of its results
/// too when `withResults`, with their roles. The role of `to` itself stays.
void cloneBody(const Function &from, Function &to, ValueMap &map,
               bool withResults = true);

} // namespace anec

#endif // ANEC_IR_CLONE_H
