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
#include <atomic>

namespace anec {

struct ProbeOptions {
  BackendChoice backend;
  std::vector<std::string> rules; ///< ids; all when empty
  unsigned secondsEach = 60;
  std::string output;  ///< a file; empty for none
  bool resume = false; ///< goes on with what `output` has
  bool skipDangerous = false;
  bool time = false;       ///< also where times say nothing of an engine
  bool json = false;       ///< the report on `out`, instead of lines
  bool showStatus = false; ///< what is being tried, on standard error
  /// This program and the arguments that make it `probeOne`.
  std::vector<std::string> childCommand;
  /// Set from outside to stop before the next program.
  const std::atomic<bool> *stop = nullptr;
};

/// Runs all, prints one line for each rule and how many have which verdict, and
/// writes JSON that `anec --target=FILE.json` takes: after each rule, so that
/// nothing is lost when the machine, or the user, stops it.
bool probe(const ProbeOptions &options, llvm::raw_ostream &out,
           Diagnostics &diags);

/// Runs the program `RULE.bad` or `RULE.good` on the engine and on the
/// processor, and prints what came of it as JSON. For child processes.
bool probeOne(llvm::StringRef name, const BackendChoice &backend,
              llvm::raw_ostream &out, Diagnostics &diags);
/// Runs both programs of a rule in turn, and prints how long they take.
bool probeTimes(llvm::StringRef rule, unsigned seconds,
                const BackendChoice &backend, llvm::raw_ostream &out,
                Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROBE_H
