//===- LanguageModel.h - a package's training step --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The entry of a package that takes tokens and targets and computes the loss
/// and gradients.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_LANGUAGEMODEL_H
#define ANEC_LIB_TRAIN_LANGUAGEMODEL_H

#include "anec/Runtime/Session.h"

namespace anec {

class LanguageModel {
public:
  /// Inspects the training step of `package` called `wanted`, or its only one.
  /// Returns false, with the reason reported, when there is none, or it does
  /// not train on tokens.
  [[nodiscard]] bool inspect(const ModelPackage &package,
                             llvm::StringRef wanted, Diagnostics &diags);
  /// Loads it; after `inspect`.
  [[nodiscard]] bool open(ModelPackage package, Backend &backend,
                          const SessionOptions &options, Diagnostics &diags);

  llvm::StringRef entry() const { return name; }
  uint64_t windowLength() const { return length; }
  /// The exclusive upper bound of token ids.
  int64_t vocabulary() const { return ids; }
  /// Floating-point operations of forward and backward for one window.
  double flops() const { return operations; }

  /// The buffers from which the next run reads a window.
  llvm::MutableArrayRef<int32_t> tokens() { return window[0]; }
  llvm::MutableArrayRef<int32_t> targets() { return window[1]; }
  /// The names of what the model returns beside its loss, and their values of
  /// the last run.
  llvm::ArrayRef<std::string> metricNames() const { return metrics; }
  double metric(size_t index) const;
  /// Runs the window and returns its loss; nothing on failure. Gradients are
  /// multiplied by `scale`.
  std::optional<float> run(
      float scale, Gradients gradients, Diagnostics &diags,
      GradientReady ready = [](llvm::MutableArrayRef<float>) {});
  std::vector<PartTime> times() const { return session->times(name); }

  Session &weights() { return *session; }

private:
  bool takesTokens(const PackagedEntry &entry);

  std::string name;
  uint64_t length = 0;
  int64_t ids = 0;
  double operations = 0;
  std::vector<int32_t> window[2];
  std::vector<std::string> metrics;
  std::vector<size_t> metricOutputs;
  size_t tokensInput = 0, targetsInput = 0, scaleInput = 0, lossOutput = 0;
  std::vector<std::vector<uint8_t>> results;
  std::unique_ptr<Session> session;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_LANGUAGEMODEL_H
