//===- Updates.h - what a training writes beside its weights ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A program in training mode writes to states on whose values no output
/// depends: running statistics of `batch_norm`. The ops that compute what is
/// written move out of the layer into the model. There a state is a weight of
/// mode `updated`, whose gradient is its change: value - next value.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_UPDATES_H
#define ANEC_PASSES_UPDATES_H

#include "anec/IR/IR.h"
#include "anec/IR/SourceWeights.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

class Builder;

struct Updates {
  /// From results of the layer, and the values of states, to the values that
  /// are written. Null for no states.
  std::unique_ptr<Function> body;
  unsigned first = 0;    ///< result of the layer that `body` takes
  unsigned numTaken = 0; ///< results that it takes; then the states
  /// The weights that the states are, in order.
  std::vector<std::string> weights;
  /// States that are left out, in order: what is written to them is lost.
  std::vector<std::string> dropped;
};

/// Removes the states of the only function of `module` if no output depends on
/// what they hold. Those of `weights` that hold fp32 are updated, if
/// `canUpdate`, and others dropped.
Updates takeUpdates(Module &module, SourceWeights &weights, bool canUpdate);

/// Warns of states that are left out.
void warnOfDropped(const Updates &updates, Diagnostics &diags);

/// `loss`, with the gradients of the weights that are states: no other gradient
/// and no value changes. `call` is the call of the layer in the model.
Value *addUpdates(const Updates &updates, const SourceWeights &weights,
                  Op &call, Value *loss, Builder &builder);

} // namespace anec

#endif // ANEC_PASSES_UPDATES_H
