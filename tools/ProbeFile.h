//===- ProbeFile.h - what ane-run probe saw --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The JSON that `ane-run probe -o` writes, rule by rule, and that `--resume`
/// and `anec --target=FILE.json` read. docs/ane.md has its fields.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_PROBEFILE_H
#define ANEC_TOOLS_PROBEFILE_H

#include "anec/Support/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace anec {

struct ProbeFile {
  std::string backend;   ///< `ane` or `cpu`
  std::string framework; ///< `system`; `other` for that of a test
  std::string path;      ///< to the engine, as `--path` has it
  std::string chip, system, target;
  bool isComplete = false;
  /// The rule that was being tried when this was written; empty for none.
  std::string running;
  /// As `--assume` takes them.
  std::vector<std::string> assumptions;
  /// Each with `rule` and `verdict`, in the order they were tried.
  std::vector<llvm::json::Object> rules;

  const llvm::json::Object *find(llvm::StringRef rule) const;
  /// Whether it was an engine that was asked, and not what stands for one.
  bool isOfEngine() const { return backend == "ane" && framework == "system"; }
  /// The version of macOS that an engine was asked on; empty otherwise.
  std::string macOS() const;
  /// How many rules have each verdict, as far as any has.
  std::vector<std::pair<llvm::StringRef, unsigned>> counts() const;
  llvm::json::Value toJson() const;
};

/// Nothing, with the reason reported, when `path` is no such file.
std::optional<ProbeFile> readProbeFile(llvm::StringRef path,
                                       Diagnostics &diags);
/// Writes it, so that it is there even when the machine ends at once.
bool writeProbeFile(const ProbeFile &file, llvm::StringRef path,
                    Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_PROBEFILE_H
