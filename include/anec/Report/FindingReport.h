//===- FindingReport.h - findings as text, JSON and SARIF -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_REPORT_FINDINGREPORT_H
#define ANEC_REPORT_FINDINGREPORT_H

#include "anec/MIL/Placement.h"
#include "anec/Target/Check.h"
#include "anec/Target/Target.h"

namespace anec {

/// The result of checking one or more programs.
struct CheckResult {
  /// Never null.
  const Target *target = &genericTarget();
  Assumptions assumptions;
  std::vector<Finding> findings;
  /// What dumps of Core ML's compiler have recorded, in the order of the texts.
  std::vector<RecordedPlacement> placements;

  /// Whether a finding counts as an error.
  bool hasErrors() const;
};

/// Which findings are printed: the first of each rule, with the places of the
/// others, or all.
enum class FindingDetail { ByRule, All };
/// Adds the findings to `diags`, which has the diagnostics from reading the
/// programs, prints them, and a line with the number of all by severity.
/// ByRule sorts them by severity, and All by place. For dumps of Core ML's
/// compiler, the ops that it does not support on the engine, and that break no
/// rule, are remarks, and a line has the number of ops by backend.
void printFindings(const CheckResult &result, FindingDetail detail,
                   Diagnostics &diags, llvm::raw_ostream &out);
/// Prints one JSON object: `target`; `findings`, each with the fields of its
/// rule, its message and its place; `placements`, for dumps of Core ML's
/// compiler; and `diagnostics`, which are those of `diags`.
void printFindingsJson(const CheckResult &result, const Diagnostics &diags,
                       llvm::raw_ostream &out);
/// Prints a SARIF 2.1.0 log with the findings and the diagnostics of `diags`.
void printFindingsSarif(const CheckResult &result, const Diagnostics &diags,
                        llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_REPORT_FINDINGREPORT_H
