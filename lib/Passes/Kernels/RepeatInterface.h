//===- RepeatInterface.h - operands and results of repeats ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Changing the operands or results of a `repeat` rebuilds it and changes the
/// signature of its body.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_REPEATINTERFACE_H
#define ANEC_LIB_PASSES_REPEATINTERFACE_H

#include "anec/IR/IR.h"

namespace anec {

/// A forward and a backward `repeat` of the same host function. The second
/// reads slices of values that the first collects.
struct RepeatPair {
  Op *forward;
  Op *backward;
};
/// All pairs in `host`.
std::vector<RepeatPair> repeatPairs(Function &host);

/// Makes `value` in the body of `repeat` a collected result, a tap. Replaces
/// `repeat` and returns the new result, the stack of its slices.
Value *addCollected(Op *&repeat, Function &body, Value *value);

/// Adds a parameter to the body of `repeat`, for the slices of the tap `stack`,
/// named after `like`. Replaces `repeat` and returns the parameter.
Value *addSliced(Op *&repeat, Function &body, Value *stack, const Value &like);

/// Removes operands that the body does not use and collected results without
/// uses. If there are any, erases `repeat` and returns the op that replaces it;
/// otherwise returns null.
Op *pruneRepeat(Op &repeat, Function &body);

} // namespace anec

#endif // ANEC_LIB_PASSES_REPEATINTERFACE_H
