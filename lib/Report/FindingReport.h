//===- FindingReport.h - findings of a check, printed -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_FINDINGREPORT_H
#define ANEC_LIB_REPORT_FINDINGREPORT_H

#include "anec/MIL/Placement.h"
#include "anec/Target/Check.h"
#include "anec/Target/Outlook.h"
#include "anec/Target/Target.h"

namespace anec {

/// The result of checking one or more programs.
struct CheckResult {
  /// At least one.
  std::vector<const Target *> targets = {&genericTarget()};
  Assumptions assumptions;
  std::vector<Finding> findings;
  /// What dumps of Core ML's compiler have recorded, in the order of the texts.
  std::vector<RecordedPlacement> placements;
  /// For each file, what each target makes of it; only printFindings needs
  /// them.
  std::vector<Outlook> outlooks;
  bool hasBaseline = false;
  /// Findings that a baseline has; they are not in `findings`.
  std::vector<Finding> known;
  /// How many findings of a baseline were not found.
  size_t gone = 0;

  /// Whether a finding is as severe as `severity`.
  bool reaches(Severity severity) const;
};

/// Which findings are printed: the first of each rule, with the places of the
/// others, or all.
enum class FindingDetail { ByRule, All };

/// How text for people looks.
struct ReportStyle {
  size_t width = 100; ///< columns
  bool colors = false;
  /// Those that were checked: a part of one is called by the name of the whole.
  std::vector<std::string> files = {};
};

/// Prints a table of the outlooks, the diagnostics of `diags`, which are those
/// from reading the programs, a paragraph for each rule that is broken, errors
/// first, and for each target a line with the number of findings by severity.
/// For dumps of Core ML's compiler, the ops that it does not support on the
/// engine, and that break no rule, are remarks, and a line has the number of
/// ops by backend.
void printFindings(const CheckResult &result, FindingDetail detail,
                   const ReportStyle &style, const Diagnostics &diags,
                   llvm::raw_ostream &out);
/// Prints the findings and the diagnostics of `diags` as workflow commands of
/// GitHub, which shows them beside the lines, and then the same last lines as
/// printFindings.
void printFindingAnnotations(const CheckResult &result, FindingDetail detail,
                             const Diagnostics &diags, llvm::raw_ostream &out);
/// Prints one JSON object: `targets`, and `target` if it is only one;
/// `findings`, each with the fields of its rule, its targets, its message and
/// its place; `known`, those of a baseline; `placements`, for dumps of Core
/// ML's compiler; and `diagnostics`, which are those of `diags`.
void printFindingsJson(const CheckResult &result, const Diagnostics &diags,
                       llvm::raw_ostream &out);
/// Prints a SARIF 2.1.0 log with the findings and the diagnostics of `diags`.
/// With a baseline, results are `new` or `unchanged`.
void printFindingsSarif(const CheckResult &result, const Diagnostics &diags,
                        llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_FINDINGREPORT_H
