//===- RepeatInterface.h - what goes into and out of turns ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Changing what a `repeat` takes or gives means making it anew, together with
/// the signature of its body.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_REPEATINTERFACE_H
#define ANEC_LIB_PASSES_REPEATINTERFACE_H

#include "anec/IR/IR.h"

namespace anec {

/// One forward and one backward `repeat` of the same host function, where the
/// second takes slices of what the first collects.
struct RepeatPair {
  Op *forward;
  Op *backward;
};
/// All pairs in `host`.
std::vector<RepeatPair> repeatPairs(Function &host);

/// Makes `value` of the body of `repeat` a collected result, a tap. Gives the
/// stack, a result of the op that takes the place of `repeat`.
Value *addCollected(Op *&repeat, Function &body, Value *value);

/// Gives the body of `repeat` a parameter, the slices of the tap `stack`, named
/// after `like`. The op that takes the place of `repeat` is left in `repeat`.
Value *addSliced(Op *&repeat, Function &body, Value *stack, const Value &like);

/// Removes operands that the body does not use and stacks that nobody uses.
/// Nothing is left of `repeat` when that changed anything; gives what took its
/// place, or null.
Op *pruneRepeat(Op &repeat, Function &body);

} // namespace anec

#endif // ANEC_LIB_PASSES_REPEATINTERFACE_H
