//===- Masks.h - values that only shift a softmax ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Masks have numbers such as -1e9 where a softmax is to give 0. The magnitude
/// does not matter as long as exp() of it is 0 in every precision: it is
/// limited to `maskLimit`.
///
/// That is exact where the other terms of the softmax's operand differ by less
/// than `maskLimit` - 104 in a row. Rows that are masked as a whole keep their
/// proportions as far as the source does, and several masks can be added.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_MASKS_H
#define ANEC_LIB_PASSES_NARROW_MASKS_H

#include "anec/IR/IR.h"

namespace anec {

constexpr double maskLimit = 10000;

/// Whether `value` is used only as a term of the operands of softmaxes: it is
/// added, moved, selected, and never multiplied.
bool onlyShiftsSoftmax(const Value &value);
/// The same for the result of `op`.
bool onlyShiftsSoftmax(const Op &op);

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_MASKS_H
