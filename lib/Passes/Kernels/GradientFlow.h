//===- GradientFlow.h - what depends on the loss's gradient -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A training host function has forward and backward ops, and the backward has
/// copies of the forward ops whose values it needs. Ops that depend on the
/// gradient of the loss are the backward proper; the values of other ops could
/// also be kept from the forward.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_GRADIENTFLOW_H
#define ANEC_LIB_PASSES_GRADIENTFLOW_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseSet.h"

namespace anec {

class GradientFlow {
public:
  explicit GradientFlow(const Module &module) : module(module) { find(); }
  /// Follows the gradient again, after ops have been replaced by others.
  void find();

  /// Whether `value` depends on the gradient of the loss.
  bool depends(const Value *value) const { return dependent.contains(value); }
  bool depends(const Op &op) const;
  /// Whether any op in `host` does: it is or contains a backward.
  bool hasBackward(const Function &host) const;

private:
  void follow(const Function &host);

  const Module &module;
  llvm::DenseSet<const Value *> dependent;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_GRADIENTFLOW_H
