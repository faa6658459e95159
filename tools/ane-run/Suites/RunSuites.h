//===- RunSuites.h - ane-run bench --suite=... -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SUITES_RUNSUITES_H
#define ANEC_TOOLS_ANE_RUN_SUITES_RUNSUITES_H

#include "../BackendChoice.h"
#include "Suite.h"
#include "anec/Target/Target.h"

namespace anec {

struct SuiteOptions {
  BackendChoice backend;
  LoadOptions load;
  std::vector<const Suite *> suites;
  std::optional<unsigned> warmup, iterations;
  std::vector<std::string> rows; ///< parts of names; all rows when empty
  bool quick = false, json = false;
  /// The chip, when it is another than the system says.
  const Target *target = nullptr;
  std::string report;              ///< a file for the JSON; empty for none
  std::string plots;               ///< a folder for charts; empty for none
  std::vector<std::string> beside; ///< reports to show beside

  /// The rows of `suite` that are wanted.
  std::vector<SuiteRow> rowsOf(const Suite &suite) const;
};

/// Measures all rows, prints them as they come, and writes the reports. False,
/// with the reason reported, when a row has no figure; the others have theirs.
bool runSuites(const SuiteOptions &options, llvm::raw_ostream &out,
               llvm::raw_ostream &progress, bool isTerminal,
               Diagnostics &diags);

/// Writes each row's programs, and the weights, to `folder`/NAME.mil.
bool emitSuites(const SuiteOptions &options, llvm::StringRef folder,
                llvm::raw_ostream &out, Diagnostics &diags);

/// Prints the suites and their rows, and what they are called.
void listSuites(const SuiteOptions &options, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SUITES_RUNSUITES_H
