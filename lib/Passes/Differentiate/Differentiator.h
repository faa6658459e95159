//===- Differentiator.h - the backward of functions -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_DIFFERENTIATOR_H
#define ANEC_LIB_PASSES_DIFFERENTIATOR_H

#include "Adjoint.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Clone.h"
#include "llvm/ADT/StringMap.h"

namespace anec {

/// The backward of a layer. Its parameters are those of the layer, followed by
/// the gradients of its results; its results are the gradients of parameters,
/// followed by those of weights.
struct LayerBackward {
  Function *function = nullptr;              ///< null after an error
  llvm::SmallVector<unsigned, 2> seeds;      ///< results with a gradient
  llvm::SmallVector<unsigned, 4> parameters; ///< those with a gradient
  std::vector<std::string> weights;          ///< those with a gradient
};

/// The backward of a `repeat`: the train body, which also returns the values
/// that the backward needs, and the backward body. See DifferentiateRepeat.cpp.
struct RepeatBackward {
  Function *body = nullptr; ///< the backward body
  /// Operands that have a gradient: carried, loop-invariant and sliced ones.
  llvm::SmallVector<unsigned, 4> carried, invariant, sliced;
  /// Operands that the backward body reads.
  llvm::SmallVector<unsigned, 4> neededInvariants, neededSlices;
  /// Collected results that have a gradient, and those added for the backward.
  llvm::SmallVector<unsigned, 4> stacked, saved;
};

class Differentiator {
public:
  Differentiator(Module &module, PassContext &ctx) : module(module), ctx(ctx) {}

  /// The backward of `layer`; adds it on first use.
  const LayerBackward &differentiateLayer(const Function &layer);
  /// Adds the training step of `model` with the functions it applies.
  bool differentiateModel(const Function &model);

private:
  /// Adds a function with this role and the owner of `forward`, named after it.
  /// Returns null, with an error reported, when the name is taken.
  Function *addFunction(const Function &forward, FunctionRole role);
  Function *addBody(const std::string &name, SourceRange range);
  /// Makes the repeats of a host function collect what their backwards need,
  /// and finds its active values.
  bool prepare(Function &host, Activity &activity);
  Op *prepareRepeat(Op &op, const Activity &activity);

  /// Whether `function`, or a function that it applies, has a weight that is
  /// trained.
  bool trains(const Function &function);
  /// What is active in a host function.
  Activity hostActivity() {
    return Activity([this](const Op &op) { return trains(appliedBy(op)); });
  }
  const Function &appliedBy(const Op &op) const;

  bool apply(const Op &op, Adjoint &adjoint);
  bool applyCall(const Op &op, Adjoint &adjoint);
  bool applyRepeat(const Op &op, Adjoint &adjoint);

  Module &module;
  PassContext &ctx;
  llvm::StringMap<LayerBackward> layers;
  llvm::DenseMap<const Function *, bool> trained;
  llvm::StringMap<RepeatBackward> repeats; ///< by the name of the train body
  Function *train = nullptr;               ///< the step that is being built
  unsigned bodies = 0; ///< number of bodies repeated in it so far

  friend class BodyDifferentiation;
};

/// Adds an `accumulate` op for each gradient.
void accumulate(Builder &builder, llvm::ArrayRef<WeightGradient> gradients);

} // namespace anec

#endif // ANEC_LIB_PASSES_DIFFERENTIATOR_H
