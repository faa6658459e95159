//===- BackendFlags.h - what programs run on, and how ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H
#define ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H

#include "BackendChoice.h"
#include "anec/Runtime/Backend.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// The flags of a command that runs programs.
class BackendFlags {
public:
  BackendFlags();

  BackendChoice choice() const;
  LoadOptions load() const { return {numerics, threads}; }
  /// What is wrong with them; empty when nothing is.
  std::string check() const;
  /// Says that `flag`, one of the command's own, is of the CPU backend alone.
  void needCpuFor(llvm::StringRef flag) { ownFlagOfCpu = flag; }
  /// Flags that make the same choice, for a child.
  std::vector<std::string> words() const;

  llvm::cl::opt<Numerics> numerics;
  llvm::cl::opt<unsigned> threads;

private:
  /// What was asked for, or what this platform has.
  BackendKind chosen() const;
  /// A flag given that only one backend has; empty for none.
  llvm::StringRef flagOfCpu() const;
  llvm::StringRef flagOfAne() const;

  llvm::StringRef ownFlagOfCpu;
  llvm::cl::opt<BackendKind> kind;
  llvm::cl::opt<double> heartbeat;
  llvm::cl::opt<bool> isolate, reuse;
  llvm::cl::opt<AnePath> path;
  llvm::cl::opt<unsigned> compileLimit, weightFiles;
};

/// The values of `--path`.
llvm::cl::ValuesClass anePathValues();

/// The path of this program, to run it again.
std::string ownExecutable();

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H
