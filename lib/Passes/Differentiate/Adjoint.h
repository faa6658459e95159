//===- Adjoint.h - the reverse sweep through one function -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Builds, at the end of a function, the gradients of the function's values and
/// weights from the gradients of its results. The caller handles ops that apply
/// other functions.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_ADJOINT_H
#define ANEC_LIB_PASSES_ADJOINT_H

#include "lib/IR/Builder.h"
#include "lib/Ops/Gradient.h"
#include "llvm/ADT/DenseSet.h"

namespace anec {

/// The values that depend on weights or on parameters of interest (active
/// values), and those whose gradients are fp32 (wide values).
class Activity {
public:
  /// Whether the function that an op applies has weights that are trained.
  using Trains = std::function<bool(const Op &op)>;

  explicit Activity(Trains trains = {}) : trains(std::move(trains)) {}

  /// Marks a parameter of interest; `wide` when it passes a weight.
  void activate(const Value *value, bool wide = false);
  /// Marks the results of `op` if it is active.
  void visit(const Op &op);
  bool isActive(const Value *value) const { return active.contains(value); }
  bool hasActiveOperand(const Op &op) const;
  /// Whether `op`, which applies a function, can have gradients to compute.
  bool appliesActively(const Op &op) const;
  /// The element type of the gradient of `value`; nothing when it has none.
  std::optional<DType> gradientDType(const Value *value) const;

private:
  Trains trains;
  llvm::DenseSet<const Value *> active, wide;
};

/// The gradient of a weight, as it is stored.
struct WeightGradient {
  std::string name;
  Value *instance; ///< the index operand of the `weight` ops; null without one
  Value *gradient;
};

class Adjoint {
public:
  /// Handles an op that applies another function. Returns false after an error.
  using Applied = std::function<bool(const Op &op, Adjoint &adjoint)>;

  Adjoint(Function &function, const Activity &activity, Diagnostics &diags,
          Applied applied = {});

  /// Adds to the gradient of `value`, if it has one.
  void add(Value *value, Value *gradient);
  /// The gradient of `value` so far; null for none.
  Value *gradient(const Value *value) const { return sums.lookup(value); }
  /// The same, or zeros.
  Value *gradientOrZeros(const Value *value);
  Value *zeros(const TensorType &type);
  /// Runs backwards through the ops that existed when this was constructed.
  /// Returns false after an error.
  bool run();
  /// The gradients of the function's weights, in the order of the ops, one for
  /// each name and instance.
  std::vector<WeightGradient> weightGradients();

  const Activity &activity;
  Builder builder;

private:
  bool apply(const Op &op);

  Diagnostics &diags;
  Applied applied;
  std::vector<Op *> forward;
  llvm::DenseMap<const Value *, Value *> sums;
  MadeOps made;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_ADJOINT_H
