//===- Objective.h - what a program of others is trained for ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A program that others wrote, such as an ONNX model or an archive of PyTorch,
/// has its weights as constants, and no loss. With both it is a model as one in
/// .tdsl is, and trains as such:
/// \code{.unparsed}
///   kernel @main(%x) -> (%y)  ==>  layer @main(%x) -> (%y)
///                                  host @model(%x, %target) -> (%loss)
/// \endcode
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_OBJECTIVE_H
#define ANEC_PASSES_OBJECTIVE_H

#include "anec/IR/IR.h"
#include "anec/IR/SourceWeights.h"
#include "anec/Passes/Updates.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

struct Objective {
  enum class Loss : uint8_t {
    Output,       ///< the first output is the loss: one number
    MeanSquare,   ///< of its difference from `target`, of its shape
    CrossEntropy, ///< of scores of classes, at `target`, int32 indices
  };
  Loss loss = Loss::Output;
  /// Of CrossEntropy, the axis of the classes. Unset: the last one of two or
  /// three axes, and axis 1 of more, as those of images are.
  std::optional<int64_t> axis;
  /// Patterns of the names of weights that are trained, with `*` and `?`; all
  /// when there are none. Other weights stay constants.
  std::vector<std::string> trained;

  /// Parses `output`, `mse`, `cross-entropy` or `cross-entropy:AXIS`. Returns
  /// nothing, with `wrong` set, for another text.
  static std::optional<Objective> parse(llvm::StringRef text,
                                        std::string &wrong);
};

/// What reading a source makes of its weights so that they are trained.
/// Returns null, with the reason reported, when a pattern is none.
[[nodiscard]] std::shared_ptr<SourceWeights>
weightsFor(const Objective &objective, Diagnostics &diags);

/// Whether a module can be made a model: it has one function, without states
/// and without recurrent ops, which have no gradients. The reason is reported
/// when it cannot.
[[nodiscard]] bool canTrain(const Module &module, Diagnostics &diags);

/// Makes constants again of weights that no gradient changes: statistics of
/// `batch_norm`. Reports patterns that no weight of `weights` matches, and
/// weights that are not trained because their values decide what the program
/// is.
[[nodiscard]] bool chooseWeights(Module &module, const Objective &objective,
                                 const SourceWeights &weights,
                                 Diagnostics &diags);

/// Makes the only function of `module`, for which `canTrain` holds, a layer of
/// `model`, which computes the loss. Returns false, with the reason reported,
/// on failure; the module is not to be used then.
[[nodiscard]] bool addObjective(Module &module, const Objective &objective,
                                const Updates &updates,
                                const SourceWeights &weights,
                                Diagnostics &diags);

/// Makes the only function of `module`, a kernel, a layer that a host function
/// of its name calls, and its statistics of `batch_norm` frozen weights.
void callFromHost(Module &module);
/// The opposite, when the module is as callFromHost has left it.
void takeFromHost(Module &module);

} // namespace anec

#endif // ANEC_PASSES_OBJECTIVE_H
