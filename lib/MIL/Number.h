//===- Number.h - number literals ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_NUMBER_H
#define ANEC_LIB_MIL_NUMBER_H

#include "anec/IR/Type.h"

namespace anec::mil {

/// Parses `text` (hexadecimal or decimal, `inf`, `nan`) as a float, rounded
/// once to the float type `dtype`; returns nothing when it is not a number.
std::optional<double> parseFloat(llvm::StringRef text, DType dtype);

enum class IntegerVerdict { Fits, OutOfRange, NoInteger };
/// Parses the decimal integer `text` into the low bits of `bits`.
IntegerVerdict parseInteger(llvm::StringRef text, DType dtype, uint64_t &bits);

} // namespace anec::mil

#endif // ANEC_LIB_MIL_NUMBER_H
