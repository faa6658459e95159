//===- ParametersOf.h - what a value is computed from -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_PARAMETERSOF_H
#define ANEC_LIB_IR_PARAMETERSOF_H

#include "anec/IR/IR.h"
#include "llvm/ADT/SetVector.h"

namespace anec {

/// The parameters of its function that `value` is computed from.
llvm::SetVector<Value *> parametersOf(Value *value);

/// "`x`, `y`".
std::string namesOf(const llvm::SetVector<Value *> &values);

} // namespace anec

#endif // ANEC_LIB_IR_PARAMETERSOF_H
