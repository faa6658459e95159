//===- NormSteps.h - the steps that exporters write norms as ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_NORMSTEPS_H
#define ANEC_LIB_PASSES_NARROW_NORMSTEPS_H

#include "lib/IR/OpDef.h"

namespace anec {

/// The mean that `value` is, if it keeps the axes that it is over; else null.
const Op *meanOver(const Value *value);
/// The axes of a reduction, from the start, sorted.
Shape axesOf(const Op &reduction);
/// What `value` is the square of; null for other values.
Value *squared(const Value *value);

/// 1 / sqrt(variance + epsilon).
struct Deviation {
  const Value *variance = nullptr;
  double epsilon = 0;
};
/// What `op`, if it divides `numerator` by a root, divides by.
std::optional<Deviation> deviationOf(const Op &op, Value *&numerator);

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_NORMSTEPS_H
