//===- Masks.cpp - values that only shift a softmax -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Masks.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Attention.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Softmax.h"

using namespace anec;

/// How many ops lie between a mask and its softmax at most.
static constexpr unsigned maxDepth = 16;

/// Whether the result of `op` has the elements of `value` plus others, moved.
static bool passesOn(const Op &op, const Value &value) {
  if (op.is(ops::Add) || op.is(ops::Sub) || op.is(ops::Select) ||
      op.is(ops::Concat) || op.is(ops::Stack) || op.is(ops::Maximum) ||
      op.is(ops::Pad) || op.is(ops::Identity) || op.is(ops::ExpandDims))
    return true;
  return op.def().has(trait::DataMovement) && op.operand(0u) == &value;
}

static bool onlyShifts(const Value &value, unsigned depth) {
  if (!value.hasUses() || depth == maxDepth)
    return false;
  for (Operand *use = value.firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user) // a result of the function
      return false;
    if (user->is(ops::Softmax))
      continue;
    if (user->is(ops::ScaledDotProductAttention) &&
        user->def().valueSlot(param::attnMask) >= 0 &&
        user->operand(param::attnMask) == &value)
      continue;
    if (!passesOn(*user, value))
      return false;
    for (const Value *result : user->resultValues())
      if (result->hasUses() && !onlyShifts(*result, depth + 1))
        return false;
  }
  return true;
}

bool anec::onlyShiftsSoftmax(const Value &value) {
  return onlyShifts(value, 0);
}

bool anec::onlyShiftsSoftmax(const Op &op) {
  return op.numResults() == 1 && onlyShiftsSoftmax(*op.result());
}
