//===- Differentiator.h - the backward of functions -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_DIFFERENTIATOR_H
#define ANEC_LIB_PASSES_DIFFERENTIATOR_H

#include "Adjoint.h"
#include "anec/IR/Clone.h"
#include "anec/Passes/Pass.h"
#include "llvm/ADT/StringMap.h"

namespace anec {

/// The backward of a layer: its parameters are those of the layer and then the
/// gradients of its results, its results the gradients of parameters and of
/// weights.
struct LayerBackward {
  Function *function = nullptr;              ///< null after an error
  llvm::SmallVector<unsigned, 2> seeds;      ///< results that have a gradient
  llvm::SmallVector<unsigned, 4> parameters; ///< those that got one, in order
  std::vector<std::string> weights;          ///< the same, after them
};

/// What the body of a `repeat` became: a function that also gives what the
/// backward needs, and that. See DifferentiateRepeat.cpp.
struct RepeatBackward {
  Function *body = nullptr; ///< the backward body
  /// Operands that have a gradient: carried ones, those that stay, and those
  /// that are sliced.
  llvm::SmallVector<unsigned, 4> carried, invariant, sliced;
  /// Operands that the backward body reads.
  llvm::SmallVector<unsigned, 4> neededInvariants, neededSlices;
  /// Stacked results that have a gradient, and those that were added.
  llvm::SmallVector<unsigned, 4> stacked, saved;
};

class Differentiator {
public:
  Differentiator(Module &module, PassContext &ctx) : module(module), ctx(ctx) {}

  /// Adds the backward of `layer`, if it is not there yet.
  const LayerBackward &differentiateLayer(const Function &layer);
  /// Adds the training step of `model` with the functions it applies.
  bool differentiateModel(const Function &model);

private:
  /// Adds a function with this role of the owner of `forward`, called after
  /// it; null, with the error reported, when the name is taken.
  Function *addFunction(const Function &forward, FunctionRole role);
  Function *addBody(const std::string &name, SourceRange range);
  /// Makes the repeats of a host function collect what their backwards need,
  /// and finds what is active in it.
  bool prepare(Function &host, Activity &activity);
  Op *prepareRepeat(Op &op, const Activity &activity);

  bool apply(const Op &op, Adjoint &adjoint);
  bool applyCall(const Op &op, Adjoint &adjoint);
  bool applyRepeat(const Op &op, Adjoint &adjoint);

  Module &module;
  PassContext &ctx;
  llvm::StringMap<LayerBackward> layers;
  llvm::StringMap<RepeatBackward> repeats; ///< by the name of the train body
  Function *train = nullptr;               ///< the step that is being made
  unsigned bodies = 0;                     ///< repeated in it so far

  friend class BodyDifferentiation;
};

/// Adds an `accumulate` for each.
void accumulate(Builder &builder, llvm::ArrayRef<WeightGradient> gradients);

} // namespace anec

#endif // ANEC_LIB_PASSES_DIFFERENTIATOR_H
