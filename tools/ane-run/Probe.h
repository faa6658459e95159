//===- Probe.h - ane-run probe ---------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a program that breaks and one that keeps each rule, to see which rules
/// this machine has. Each in a process of its own: what it does to the compiler
/// ends with it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_PROBE_H
#define ANEC_TOOLS_ANE_RUN_PROBE_H

#include "BackendChoice.h"

namespace anec {

struct ProbeOptions {
  BackendChoice backend;
  std::vector<std::string> rules; ///< ids; all when empty
  unsigned secondsEach = 60;
  std::string output; ///< a file; empty for none
  /// This program and the arguments that make it `probeOne`.
  std::vector<std::string> childCommand;
};

/// Runs all, prints one line for each rule and how many hold, and writes JSON
/// that `anec --target=FILE.json` takes.
bool probe(const ProbeOptions &options, llvm::raw_ostream &out,
           Diagnostics &diags);

/// Runs the program `RULE.bad` or `RULE.good` on the engine and on the
/// processor, and prints what came of it as JSON. For child processes.
bool probeOne(llvm::StringRef name, const BackendChoice &backend,
              llvm::raw_ostream &out, Diagnostics &diags);

/// Runs the command when the command line names it.
std::optional<int> runProbeCommands();
void hideFlagsInProbe();

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROBE_H
