//===- KernelProgram.h - a kernel, with the weights it has ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A loaded kernel. Where weights are constants of it, new values make it
/// another program, which is loaded in place of this one: in the background
/// where the backend can, so that the kernels that run first do not wait for
/// those that run last.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_KERNELPROGRAM_H
#define ANEC_LIB_RUNTIME_SESSION_KERNELPROGRAM_H

#include "Context.h"

namespace anec::session {

class KernelProgram {
public:
  KernelProgram(const SessionContext &context, const PackagedKernel &kernel,
                const PackagedInstance &instance,
                std::shared_ptr<const Module> module,
                llvm::ArrayRef<Binding> bindings);

  /// Loads it with the weights as they are; false, with the reason reported,
  /// when that fails.
  [[nodiscard]] bool load(Diagnostics &diags);
  /// Whether weights that the session has are constants of it.
  bool isBaked() const;

  /// Takes the weights as they are, for `loadNext`; waits for a program that is
  /// being loaded.
  void captureWeights();
  /// Has `tasks` load the program with the captured weights.
  void loadNext(TaskQueue &tasks);

  /// With the weights captured last: waits until it is loaded. Null, with the
  /// reason reported, when it could not be.
  [[nodiscard]] Executable *executable(Diagnostics &diags);

private:
  void waitForNext();
  [[nodiscard]] std::unique_ptr<Executable> load(const Function &function,
                                                 Diagnostics &diags) const;
  std::unique_ptr<Module> withWeights() const;
  ConstantRef currentValue(const WeightView &view) const;

  const SessionContext &context;
  const PackagedKernel &kernel;
  const PackagedInstance &instance;
  std::shared_ptr<const Module> module;
  llvm::SmallVector<Binding, 16> bindings;
  std::unique_ptr<Executable> current, next;

  std::unique_ptr<Module> captured;
  /// Loads what was captured; `pending` is its queue until it was waited for.
  TaskQueue::Task loading;
  TaskQueue *pending = nullptr;
  uint64_t ticket = 0;
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_KERNELPROGRAM_H
