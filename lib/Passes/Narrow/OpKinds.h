//===- OpKinds.h - what ops do to values that fp16 lacks --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_OPKINDS_H
#define ANEC_LIB_PASSES_NARROW_OPKINDS_H

#include "lib/IR/OpDef.h"

namespace anec {

/// Whether the stored operands and the epsilon of `op` can be in fp32 where its
/// other operand is in fp16.
bool takesMixedConstants(const Op &op);
/// Whether `op` divides by `value`, or takes a root or a logarithm of it.
bool amplifiesSmall(const Op &op, const Value &value);
/// Whether a result of `op` is as near 0 as its operand `value`, up to constant
/// factors.
bool keepsSmall(const Op &op, const Value &value);
/// Whether the results of `op` are ordinary numbers, whatever its operands are.
bool settlesScale(const Op &op);
/// Whether results of `op` on integers and constants are exact to be of use.
bool passesIntegers(const Op &op);
/// Whether `op` computes a sum of squares, or a part of one.
bool isPartOfSquares(const Op &op);
/// Whether `op` computes an angle from others.
bool isPartOfAngle(const Op &op);

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_OPKINDS_H
