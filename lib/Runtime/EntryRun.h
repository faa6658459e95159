//===- EntryRun.h - runs of a package's entry -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ENTRYRUN_H
#define ANEC_LIB_RUNTIME_ENTRYRUN_H

#include "anec/Runtime/Session.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace anec {

struct EntryOptions {
  LoadOptions load;
  WeightOptions weights;
  /// The entry; empty selects the training entry when gradients are written or
  /// timed, otherwise the forward entry.
  std::string entry;
  /// Arguments NAME=SOURCE, see InputArrays.h.
  std::vector<std::string> inputs;
  /// Draws the random masks that are not given, as the first run of a training
  /// with this seed does. Unset: they are their means, as without training.
  std::optional<uint64_t> seed;
};

/// A session with the arrays of one entry. Runs use the input values read when
/// it was opened.
class EntryRun {
public:
  /// Opens a session with `package`, and reads the inputs; inputs without an
  /// argument use `fallback`, see readPorts. `backward` chooses between entries
  /// when none is named.
  [[nodiscard]] bool open(ModelPackage package, Backend &backend,
                          const EntryOptions &options, bool backward,
                          llvm::StringRef fallback, Diagnostics &diags);
  [[nodiscard]] bool run(Diagnostics &diags);
  /// The outputs of the last run, copied.
  std::vector<ConstantRef> outputs() const;

  Session &session() const { return *opened; }
  const std::string &entry() const { return name; }

private:
  std::unique_ptr<Session> opened;
  std::string name;
  std::vector<ConstantRef> inputs;
  std::vector<std::vector<uint8_t>> results;
};

/// Runs an entry of `package` once and prints a summary of each output. Writes
/// the outputs to `outputDir` (writeOutputs) and the gradients to `gradients`
/// (writeArrays) when these are not empty.
[[nodiscard]] bool runEntryOnce(ModelPackage package, Backend &backend,
                                const EntryOptions &options,
                                llvm::StringRef outputDir,
                                llvm::StringRef gradients,
                                llvm::raw_ostream &out, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_ENTRYRUN_H
