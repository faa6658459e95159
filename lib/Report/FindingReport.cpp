//===- FindingReport.cpp - findings as text -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Report/FindingReport.h"
#include "FindingText.h"
#include "RecordedReport.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

using namespace anec;

bool CheckResult::reaches(Severity severity) const {
  return llvm::any_of(findings, [&](const Finding &finding) {
    return assumptions.severityOf(*finding.rule) <= severity;
  });
}

llvm::SmallVector<RuleFindings, 0>
anec::groupBySeverity(const CheckResult &result) {
  llvm::SmallVector<RuleFindings, 0> groups = groupByRule(result.findings);
  llvm::stable_sort(groups, [&](const auto &lhs, const auto &rhs) {
    return result.assumptions.severityOf(*lhs.first.first) <
           result.assumptions.severityOf(*rhs.first.first);
  });
  return groups;
}

/// The number of findings and diagnostics by severity.
using Counts = std::array<size_t, 4>;

static void printCounts(llvm::StringRef target, const Counts &counts,
                        llvm::raw_ostream &out) {
  out << target << ": ";
  printCount(out, counts[size_t(Severity::Error)], "error");
  out << ", ";
  printCount(out, counts[size_t(Severity::Warning)], "warning");
  out << ", ";
  printCount(out, counts[size_t(Severity::Remark)], "remark");
  out << '\n';
}

void anec::printTotals(const CheckResult &result, const Counts &others,
                       llvm::raw_ostream &out) {
  for (const Target *target : result.targets) {
    Counts counts = others;
    for (const Finding &finding : result.findings)
      if (llvm::is_contained(finding.targets, target))
        ++counts[size_t(result.assumptions.severityOf(*finding.rule))];
    printCounts(target->name, counts, out);
  }
  printPlacements(result, out);
  if (!result.known.empty()) {
    out << "of the baseline: ";
    printCount(out, result.known.size(), "finding");
    out << ", not shown\n";
  }
  if (result.gone != 0) {
    out << "no longer found: ";
    printCount(out, result.gone, "finding");
    out << " of the baseline; --write-baseline writes it anew\n";
  }
}

void anec::printFindings(const CheckResult &result, FindingDetail detail,
                         Diagnostics &diags, llvm::raw_ostream &out) {
  Counts others = {};
  for (const Diagnostic &diagnostic : diags.all())
    ++others[size_t(diagnostic.severity())];
  if (detail == FindingDetail::ByRule)
    reportGroups(groupBySeverity(result), result.assumptions, diags,
                 result.targets);
  else
    for (const Finding &finding : result.findings)
      reportFinding(finding, result.assumptions, diags, {}, result.targets);
  others[size_t(Severity::Remark)] += reportPlacements(result, detail, diags);
  diags.print(out, out.has_colors());
  printTotals(result, others, out);
}
