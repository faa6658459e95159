//===- RunSuites.h - measures suites of benchmarks --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_BENCH_RUNSUITES_H
#define ANEC_LIB_BENCH_RUNSUITES_H

#include "anec/Runtime/Backend.h"
#include "anec/Target/Target.h"
#include "lib/Bench/Suite.h"
#include "lib/Runtime/MachineRecord.h"

namespace anec {

struct SuiteOptions {
  MachineRecord machine; ///< what the rows run on
  LoadOptions load;
  std::vector<const Suite *> suites;
  std::optional<unsigned> warmup, iterations;
  std::vector<std::string> rows; ///< parts of names; all rows when empty
  bool quick = false, json = false;
  /// The maximum number of weight files of a written program.
  unsigned mostWeightFiles = 1;
  /// The chip; null for the one that `machine` names.
  const Target *target = nullptr;
  std::string report;              ///< a file for the JSON; empty for none
  std::string plots;               ///< a folder for charts; empty for none
  std::vector<std::string> beside; ///< reports to show next to the results

  /// The rows of `suite` that are wanted.
  std::vector<SuiteRow> rowsOf(const Suite &suite) const;
};

/// Measures all rows on `backend`, prints each when it is done, and writes the
/// reports. `progress` receives the row that is being measured, in a line that
/// is overwritten when `isTerminal`. Returns false, with the reason reported,
/// when a row has no figure; the other rows keep theirs.
[[nodiscard]] bool runSuites(const SuiteOptions &options, Backend &backend,
                             llvm::raw_ostream &out,
                             llvm::raw_ostream &progress, bool isTerminal,
                             Diagnostics &diags);

/// Writes each row's programs, and the weights, to `folder`/NAME.mil.
[[nodiscard]] bool emitSuites(const SuiteOptions &options,
                              llvm::StringRef folder, llvm::raw_ostream &out,
                              Diagnostics &diags);

/// Prints the suites and the names of their rows.
void listSuites(const SuiteOptions &options, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_BENCH_RUNSUITES_H
