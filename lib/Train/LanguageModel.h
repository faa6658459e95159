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
  /// Looks at `package`: false, with the reason reported, when no entry of it
  /// trains on tokens.
  bool inspect(const ModelPackage &package, Diagnostics &diags);
  /// Loads it; after `inspect`.
  bool open(ModelPackage package, Backend &backend,
            const SessionOptions &options, Diagnostics &diags);

  llvm::StringRef entry() const { return name; }
  uint64_t windowLength() const { return length; }
  /// Every id has to be below.
  int64_t vocabulary() const { return ids; }
  /// Of forward and backward of a window, by the ops' rows.
  double flops() const { return operations; }

  /// Where the next run reads a window from.
  llvm::MutableArrayRef<int32_t> tokens() { return window[0]; }
  llvm::MutableArrayRef<int32_t> targets() { return window[1]; }
  /// The loss of the window; nothing when the machine failed. Gradients are
  /// `scale` times too large.
  std::optional<float> run(
      float scale, Gradients gradients, Diagnostics &diags,
      GradientReady ready = [](llvm::MutableArrayRef<float>) {});
  std::vector<PartTime> times() const { return session->times(name); }

  Session &weights() { return *session; }

private:
  std::string name;
  uint64_t length = 0;
  int64_t ids = 0;
  double operations = 0;
  std::vector<int32_t> window[2];
  std::unique_ptr<Session> session;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_LANGUAGEMODEL_H
