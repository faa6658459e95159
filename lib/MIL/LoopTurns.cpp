//===- LoopTurns.cpp - loops whose values change shape --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A value of a loop can have another shape after each turn: a list to which
/// each turn adds. Core ML computes the shapes as it goes; here they must be
/// known, and so must the number of turns, which values may decide. Such a loop
/// becomes the ops of its turns, and their condition is computed after each.
///
//===----------------------------------------------------------------------===//

#include "LoopTurns.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParametersOf.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// Whether a loop around computes what decides `value`. The loop must then be
/// built turn by turn, so that it is known.
bool FunctionBinder::isDecidedInLoop(Value *value) {
  bool isDecided =
      chosenBlocks && any_of(parametersOf(value), [&](const Value *parameter) {
        return none_of(flexible, [&](const FlexibleParameter &input) {
          return input.value == parameter;
        });
      });
  changesShapes |= isDecided;
  return isDecided;
}

/// Builds a loop turn by turn, from the first `values` on.
bool FunctionBinder::bindTurns(const Statement &statement,
                               BlockResults values) {
  SmallVector<bool, 4> isKnown(values.size(), true);
  for (size_t turn = 0;; ++turn) {
    BlockResults goesOn, next;
    if (!bindBlock(statement.blocks[0], values, statement.range, goesOn) ||
        goesOn.size() != 1 || !goesOn[0].value)
      return false;
    ConstantRef again = demand(goesOn[0].value);
    if (!again && isDecidedInLoop(goesOn[0].value))
      return false;
    if (!again) {
      explainUnknown(
          diags.report(statement.opRange, diag::UnsupportedOp, statement.opName,
                       "shapes change from turn to turn, and values decide how "
                       "many turns there are"),
          statement.opRange, goesOn[0].value);
      return false;
    }
    if (!again->asBool())
      return defineChosen(statement, values);
    if (turn == mostIterations || ofBlocks > mostUnrolled)
      return refuse(statement, "it has too many turns in which shapes change");
    if (!bindBlock(statement.blocks[1], values, statement.range, next) ||
        next.size() != values.size())
      return false;
    // What the next turn depends on is computed once.
    for (auto [value, known] : zip_equal(next, isKnown))
      known = known && value.value && demand(value.value);
    values = std::move(next);
  }
}
