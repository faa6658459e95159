//===- Number.h - number literals ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_NUMBER_H
#define ANEC_LIB_MIL_NUMBER_H

#include "anec/IR/Type.h"

namespace anec::mil {

/// The float that `text` (hexadecimal or decimal, `inf`, `nan`) stands for,
/// rounded once to `dtype`, a float type; nothing when it is no number.
std::optional<double> parseFloat(llvm::StringRef text, DType dtype);

enum class IntegerVerdict { Fits, OutOfRange, NoInteger };
/// The integer that decimal `text` stands for, as the low bits of `bits`.
IntegerVerdict parseInteger(llvm::StringRef text, DType dtype, uint64_t &bits);

} // namespace anec::mil

#endif // ANEC_LIB_MIL_NUMBER_H
