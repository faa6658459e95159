//===- ProbeChild.h - a program in a child process --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_PROBECHILD_H
#define ANEC_PROBE_PROBECHILD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <atomic>

namespace anec {

/// How programs are run in child processes.
struct ProbeChild {
  /// A command that accepts the name of a program after these words, and prints
  /// its outcome as JSON.
  std::vector<std::string> command;
  unsigned secondsEach = 60;
  /// Exit codes of the command up to this one mean that it reported an error.
  int highestErrorCode = 3;
  /// Set from outside to end the child; null for never.
  const std::atomic<bool> *stop = nullptr;
  /// Where the backend stages programs; empty when nowhere.
  std::string stagingFolder;

  /// Runs one program. Returns the outcome that the child prints or, if it does
  /// not end normally, the outcome of the process, after removing the folders
  /// that it staged: those of `texts`, and of programs that name its process.
  llvm::json::Object run(const std::string &name,
                         llvm::ArrayRef<llvm::StringRef> texts) const;
};

} // namespace anec

#endif // ANEC_PROBE_PROBECHILD_H
