//===- TrainingStep.h - a package's training step ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The entry of a package that computes a loss and the gradients of weights,
/// and the buffers that data fills for it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_TRAININGSTEP_H
#define ANEC_LIB_TRAIN_TRAININGSTEP_H

#include "anec/Runtime/Session.h"
#include "lib/Package/MaskDraw.h"

namespace anec {

/// An input that data fills: each but the scale of the loss and random masks.
struct StepInput {
  std::string name;
  TensorType type;
  /// The exclusive upper bound of the numbers in it, as far as it is known.
  int64_t bound;
};

/// Where a language model takes tokens and targets.
struct TokenInputs {
  size_t tokens, targets; ///< indices of inputs
  uint64_t length;        ///< of both
  int64_t vocabulary;     ///< the exclusive upper bound of token ids
};

class TrainingStep {
public:
  /// Inspects the training step of `package` called `wanted`, or its only one.
  /// Returns false, with the reason reported, when there is none.
  [[nodiscard]] bool inspect(const ModelPackage &package,
                             llvm::StringRef wanted, Diagnostics &diags);
  /// Loads it; after `inspect`.
  [[nodiscard]] bool open(ModelPackage package, Backend &backend,
                          const SessionOptions &options, Diagnostics &diags);

  llvm::StringRef entry() const { return name; }
  llvm::ArrayRef<StepInput> inputs() const { return data; }
  /// Set when the step takes tokens and targets, two `int32` vectors of one
  /// length, and nothing else.
  const std::optional<TokenInputs> &tokenInputs() const { return tokens; }
  /// Floating-point operations of forward and backward for one run.
  double flops() const { return operations; }

  /// The buffers of the inputs, from which the next run reads.
  llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> buffers() { return views; }
  /// The names of what the model returns beside its loss, and their values of
  /// the last run.
  llvm::ArrayRef<std::string> metricNames() const { return metrics; }
  double metric(size_t index) const;
  /// Draws the masks of the next runs, or sets them to their means.
  void drawMasks(const MaskDraw &draw);
  void clearMasks();
  /// Runs once and returns the loss; nothing on failure. Gradients are
  /// multiplied by `scale`.
  [[nodiscard]] std::optional<float> run(
      float scale, Gradients gradients, Diagnostics &diags,
      GradientReady ready = [](llvm::MutableArrayRef<float>) {});
  std::vector<PartTime> times() const { return session->times(name); }

  Session &weights() { return *session; }

private:
  void addInputs(const PackagedEntry &entry, const Function &function);
  void findTokens(const PackagedEntry &entry);

  std::string name;
  double operations = 0;
  std::vector<StepInput> data;
  struct MaskInput {
    size_t input; ///< of the entry
    TensorType type;
    RandomMask mask;
  };
  std::vector<MaskInput> masks;
  bool areDrawn = true; ///< masks may have other elements than their means
  std::optional<TokenInputs> tokens;
  std::vector<std::string> metrics;
  std::vector<size_t> metricOutputs;
  size_t scaleInput = 0, lossOutput = 0;             ///< of the entry
  std::vector<std::vector<uint8_t>> filled, results; ///< of the entry
  std::vector<llvm::MutableArrayRef<uint8_t>> views;
  std::unique_ptr<Session> session;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_TRAININGSTEP_H
