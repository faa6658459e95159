//===- ConstantBytes.h - the size of constants ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_CONSTANTBYTES_H
#define ANEC_LIB_RUNTIME_APPLE_CONSTANTBYTES_H

#include "anec/IR/IR.h"

namespace anec::apple {

/// The bytes of all constants of `function` but strings.
uint64_t bytesOfConstants(const Function &function);

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_CONSTANTBYTES_H
