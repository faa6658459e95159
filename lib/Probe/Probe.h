//===- Probe.h - finds the rules of this machine ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a program that breaks and one that keeps each rule, to find which rules
/// hold on this machine. Each program runs in a child process of its own, so
/// that a crash of the engine's compiler ends only that process.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_PROBE_H
#define ANEC_LIB_PROBE_PROBE_H

#include "anec/Runtime/Backend.h"
#include "lib/Runtime/MachineRecord.h"
#include "llvm/Support/JSON.h"
#include <atomic>

namespace anec {

struct ProbeOptions {
  MachineRecord machine;          ///< what the child processes run programs on
  std::vector<std::string> rules; ///< ids; all when empty
  unsigned secondsEach = 60;
  std::string output;  ///< a file for the report; empty for none
  bool resume = false; ///< keeps the entries that `output` has
  bool skipDangerous = false;
  bool time = false; ///< also times rules about speed without an engine
  bool json = false; ///< prints the report to `out`, instead of lines
  /// Receives the rule that is being tried, in a line that is overwritten; null
  /// for none.
  llvm::raw_ostream *status = nullptr;
  /// A command that accepts RULE.bad, RULE.good or RULE.times after these words
  /// and prints the result of `runRuleProgram` or `timeRulePrograms` as JSON.
  std::vector<std::string> childCommand;
  /// Exit codes of that command up to this one mean that it reported an error.
  int highestErrorCode = 3;
  /// Set from outside to stop before the next program.
  const std::atomic<bool> *stop = nullptr;
};

/// Tries the rules, prints a line for each and the number of each verdict, and
/// writes the report after each rule, so that nothing is lost when the process
/// ends. `anec --target=FILE.json` reads the report.
[[nodiscard]] bool probe(const ProbeOptions &options, llvm::raw_ostream &out,
                         Diagnostics &diags);

/// Whether `name` is RULE.bad, RULE.good or RULE.times of a rule with programs.
bool isRuleProgram(llvm::StringRef name);
/// Runs RULE.bad or RULE.good on `backend` and compares its outputs with those
/// of the CPU backend. Returns an object with the outcome.
llvm::json::Object runRuleProgram(llvm::StringRef name, Backend &backend,
                                  std::shared_ptr<Workspace> workspace = {});
/// Runs both programs of `rule` alternately for a quarter of `seconds`. Returns
/// an object with their times.
llvm::json::Object timeRulePrograms(llvm::StringRef rule, unsigned seconds,
                                    Backend &backend,
                                    std::shared_ptr<Workspace> workspace = {});

} // namespace anec

#endif // ANEC_LIB_PROBE_PROBE_H
