//===- Evaluate.h - ops on constants ----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_EVALUATE_H
#define ANEC_LIB_OPS_EVALUATE_H

#include "anec/IR/IR.h"
#include "lib/IR/OpDef.h"

namespace anec {

/// The results of `op`, which has a reference, on constants (null for an absent
/// operand), in double precision.
std::vector<RefTensor>
evaluateExactly(const Op &op, llvm::ArrayRef<const RefTensor *> operands);

/// The results of `op`, which has a reference, on constants (null for an absent
/// operand): in double precision, then each rounded to its element type, or
/// where `widensHalf`, those of fp16 to fp32. What has no inputs has these
/// values wherever it is computed, by the compiler or when a program is loaded.
std::vector<RefTensor>
evaluateRounded(const Op &op, llvm::ArrayRef<const RefTensor *> operands,
                bool widensHalf = false);

} // namespace anec

#endif // ANEC_LIB_OPS_EVALUATE_H
