//===- ProbeFile.h - the report of a probe ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The JSON that `ane-run probe -o` writes, rule by rule, and that `--resume`
/// and `anec --target=FILE.json` read. docs/ane.md has its fields.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_PROBEFILE_H
#define ANEC_PROBE_PROBEFILE_H

#include "anec/Support/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace anec {

struct ProbeFile {
  std::string backend;   ///< `ane` or `cpu`
  std::string framework; ///< `system`, or `other` for a test framework
  std::string path;      ///< the methods of the framework: `in-memory`
  std::string chip, system, target;
  bool isComplete = false;
  /// The rule that was being tried when this was written; empty for none.
  std::string running;
  /// In the form of `--assume`.
  std::vector<std::string> assumptions;
  /// Each with `rule` and `verdict`, in the order they were tried.
  std::vector<llvm::json::Object> rules;

  const llvm::json::Object *find(llvm::StringRef rule) const;
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

#endif // ANEC_PROBE_PROBEFILE_H
