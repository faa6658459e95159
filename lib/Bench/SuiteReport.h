//===- SuiteReport.h - what suites measured ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_BENCH_SUITEREPORT_H
#define ANEC_LIB_BENCH_SUITEREPORT_H

#include "anec/Target/Target.h"
#include "lib/Bench/Measure.h"
#include "lib/Bench/OtherReport.h"
#include "lib/Runtime/MachineRecord.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// The common context of the rows of all suites.
struct SuiteContext {
  MachineRecord machine;
  std::string milVersion;
  /// The chip whose peak percentages refer to; null when it is not known.
  const Target *target = nullptr;
  /// Reports of other machines, shown next to these results.
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

  /// The first row with the label of `row`, to which its ratio refers. Null
  /// when it has no figure.
  const MeasuredRow *base(const MeasuredRow &row) const;
};

/// Print text, row by row.
void printSuiteHeading(const SuiteReport &report, const SuiteContext &context,
                       llvm::raw_ostream &out);
void printSuiteRow(const SuiteReport &report, const MeasuredRow &row,
                   const SuiteContext &context, llvm::raw_ostream &out);
/// Prints the figures of the same rows in other reports and publications.
void printOtherFigures(const SuiteReport &report, const SuiteContext &context,
                       llvm::raw_ostream &out);

/// Prints all reports as JSON.
void printSuiteReports(llvm::ArrayRef<SuiteReport> reports,
                       const SuiteContext &context, llvm::raw_ostream &out);

/// The share of the target's peak for convolutions that a row reached, 1 for
/// all of it; nothing without a target.
std::optional<double> shareOfPeak(const MeasuredRow &row, const Target *target);

} // namespace anec

#endif // ANEC_LIB_BENCH_SUITEREPORT_H
