//===- Report.h - what suites measured -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SUITES_REPORT_H
#define ANEC_TOOLS_ANE_RUN_SUITES_REPORT_H

#include "../Machine.h"
#include "Measure.h"
#include "OtherReport.h"
#include "anec/Runtime/Backends.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// What everything was measured on.
struct SuiteSurroundings {
  MachineNames machine;
  std::string backend, milVersion;
  std::string path, framework; ///< of the engine; empty without one
  /// Whose peak percentages are of; null when it is not known.
  const Target *target = nullptr;
  /// What was measured elsewhere, to show beside.
  std::vector<OtherReport> others;
};

struct MeasuredRow {
  SuiteRow row;
  RowResult result;
};
struct SuiteReport {
  const Suite *suite = nullptr;
  unsigned warmup = 0, iterations = 0;
  std::vector<MeasuredRow> rows;

  /// The first row with the label of `row`: what its ratio is of. Null when it
  /// has no figure.
  const MeasuredRow *base(const MeasuredRow &row) const;
};

/// Text, row by row as they come.
void printHeading(const SuiteReport &report,
                  const SuiteSurroundings &surroundings,
                  llvm::raw_ostream &out);
void printRow(const SuiteReport &report, const MeasuredRow &row,
              const SuiteSurroundings &surroundings, llvm::raw_ostream &out);
/// What was measured of these rows elsewhere, and what others published.
void printElsewhere(const SuiteReport &report,
                    const SuiteSurroundings &surroundings,
                    llvm::raw_ostream &out);

/// All at once, for sharing.
void printJson(llvm::ArrayRef<SuiteReport> reports,
               const SuiteSurroundings &surroundings, llvm::raw_ostream &out);

/// What a share of the target's peak for convolutions a row reached, 0 to 1 and
/// more; nothing without a target.
std::optional<double> shareOfPeak(const MeasuredRow &row, const Target *target);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SUITES_REPORT_H
