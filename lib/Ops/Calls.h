//===- Calls.h - calls of functions ----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_CALLS_H
#define ANEC_LIB_OPS_CALLS_H

#include "anec/IR/IR.h"

namespace anec {

class Builder;

/// Calls `callee`. `operands` are the instance, null for none, and then one
/// value for each parameter. The results are called as those of `callee`.
Op *buildCall(Builder &builder, const Function &callee,
              llvm::ArrayRef<Value *> operands);

} // namespace anec

#endif // ANEC_LIB_OPS_CALLS_H
