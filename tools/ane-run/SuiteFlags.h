//===- SuiteFlags.h - flags of suites ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SUITEFLAGS_H
#define ANEC_TOOLS_ANE_RUN_SUITEFLAGS_H

#include "../Command.h"
#include "BackendChoice.h"
#include "lib/Bench/RunSuites.h"

namespace anec {

/// The flags that `bench` has for suites.
class SuiteFlags {
public:
  SuiteFlags();

  /// Whether suites are requested, instead of a program.
  bool isGiven() const { return !names.empty() || list; }
  /// The error in the flags; empty when they are valid.
  std::string check() const;
  /// Runs what the flags request; `options` has the settings of other flags.
  ExitCode run(SuiteOptions options, const BackendChoice &backend,
               const Invocation &call) const;

private:
  llvm::cl::list<std::string> names, rows, beside;
  llvm::cl::opt<bool> list, quick;
  llvm::cl::opt<std::string> emit, target, report, plots;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SUITEFLAGS_H
