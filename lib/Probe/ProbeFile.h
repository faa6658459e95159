//===- ProbeFile.h - the report of a probe ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The JSON that `ane-run probe -o` writes, rule by rule, and `ane-run doctor
/// --run -o`, trial by trial, each keeping what the other wrote with
/// `--resume`. `anec --target=FILE.json` reads it. docs/use/ane.md has its
/// fields.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_PROBEFILE_H
#define ANEC_LIB_PROBE_PROBEFILE_H

#include "lib/Runtime/MachineRecord.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace anec {

struct ProbeFile {
  std::string backend;   ///< `ane` or `cpu`
  std::string framework; ///< `system`, or `other` for a test framework
  std::string path;      ///< the methods that rules were tried with: `client`
  std::string chip, system, target;
  bool isComplete = false; ///< whether all that was asked for was tried
  /// The rule, or PATH/TRIAL, that was being tried when this was written; empty
  /// for none.
  std::string running;
  /// Those that were read, in the form of `--assume`.
  std::vector<std::string> assumptions;
  /// Each with `rule` and `verdict`, in the order they were tried.
  std::vector<llvm::json::Object> rules;
  /// What is there of the engine's interface; null when that is not known.
  llvm::json::Value inspection = nullptr;
  /// Each with `path` and `opened`, and the reason in `why`.
  std::vector<llvm::json::Object> paths;
  /// Each with `trial`, `path` and `verdict`, in the order they were tried.
  std::vector<llvm::json::Object> trials;

  /// A report of that machine in which nothing was tried.
  static ProbeFile ofMachine(const MachineRecord &machine);
  bool isOfSameMachine(const ProbeFile &other) const;

  const llvm::json::Object *find(llvm::StringRef rule) const;
  const llvm::json::Object *findTrial(llvm::StringRef path,
                                      llvm::StringRef trial) const;
  /// What follows from the entries, sorted by rule: `RULE=deny` where a trial
  /// that breaks the rule shows its hazard, and `RULE=allow` where the rule
  /// does not hold.
  std::vector<std::string> deriveAssumptions() const;
  /// Whether the programs ran on an engine, and not on the processor or a
  /// double of the engine's framework.
  bool isOfEngine() const { return backend == "ane" && framework == "system"; }
  /// The version of macOS that the engine was probed with; empty without one.
  std::string macOS() const;
  /// The number of rules with each verdict that some rule has.
  std::vector<std::pair<llvm::StringRef, unsigned>> counts() const;
  llvm::json::Value toJson() const;
};

/// Returns nothing, with the reason reported, when `path` is not such a file.
[[nodiscard]] std::optional<ProbeFile> readProbeFile(llvm::StringRef path,
                                                     Diagnostics &diags);
/// Writes the file and syncs it to the disk, in case the machine crashes.
[[nodiscard]] bool writeProbeFile(const ProbeFile &file, llvm::StringRef path,
                                  Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_PROBE_PROBEFILE_H
