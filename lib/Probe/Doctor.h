//===- Doctor.h - composed programs on this machine -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs programs that meet the known hazards of engines as real programs do, by
/// each path to the engine, and compares them with the CPU backend: the first
/// thing to run on a machine, and the report to send. Each program runs in a
/// child process of its own, so that a crash of the engine's compiler ends only
/// that process. docs/use/ane.md describes the report.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_DOCTOR_H
#define ANEC_LIB_PROBE_DOCTOR_H

#include "anec/API/ProgramSession.h"
#include "lib/Runtime/MachineRecord.h"
#include "llvm/Support/JSON.h"
#include <atomic>
#include <functional>
#include <optional>

namespace anec {

/// A way to run programs on the machine.
struct DoctorPath {
  /// That of the methods of the framework, or of the backend if it has no
  /// paths.
  std::string name;
  /// A command that accepts trial/NAME after these words and prints the result
  /// of `runTrial` as JSON.
  std::vector<std::string> childCommand;
  std::string unavailable; ///< why it cannot be opened; empty when it can
};

struct DoctorOptions {
  MachineRecord machine;
  std::vector<DoctorPath> paths;
  /// The path to try, too, when the first of `paths` refuses a program with
  /// this message; nothing when there is none.
  std::function<std::optional<DoctorPath>(llvm::StringRef message)> otherPath =
      nullptr;
  /// What of the engine's interface is there; null for nothing.
  llvm::json::Value inspection = nullptr;
  std::vector<std::string> trials; ///< names; all when empty
  unsigned secondsEach = 30;
  bool isSlow = false; ///< also tries what waits for the engine to sleep
  std::string output;  ///< a file for the report; empty for none
  bool resume = false; ///< keeps the entries that `output` has
  bool json = false;   ///< prints the report to `out`, instead of text
  /// Receives the program that is being tried, in a line that is overwritten;
  /// null for none.
  llvm::raw_ostream *status = nullptr;
  int highestErrorCode = 3; ///< see ProbeOptions
  /// Set from outside to stop before the next program.
  const std::atomic<bool> *stop = nullptr;
};

/// Whether there is a trial of that name.
bool isTrial(llvm::StringRef name);

/// Prints what `runDoctor` would do, and what may happen, with the hazard of
/// each trial.
void printDoctorPlan(const DoctorOptions &options, llvm::raw_ostream &out);

/// Announces and runs the trials, prints a row for each and the verdict on each
/// hazard, and writes the report before and after each trial. `anec
/// --target=FILE.json` reads the report. Returns false, with the reason
/// reported, when the report cannot be read or written, or when no program runs
/// by any path.
[[nodiscard]] bool runDoctor(const DoctorOptions &options,
                             llvm::raw_ostream &out, Diagnostics &diags);

/// How a child process runs a trial.
struct TrialOptions {
  ProgramSessionOptions session; ///< the backend
  const Target *target = nullptr;
  unsigned seconds = 30; ///< those the process is given
};

/// Runs the trial on the backend and compares its outputs with those of the CPU
/// backend. Returns an object with the outcome.
llvm::json::Object runTrial(llvm::StringRef name, const TrialOptions &options);

} // namespace anec

#endif // ANEC_LIB_PROBE_DOCTOR_H
