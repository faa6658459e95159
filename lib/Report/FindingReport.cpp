//===- FindingReport.cpp - findings as text -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/FindingReport.h"
#include "FindingText.h"
#include "OutlookTable.h"
#include "RecordedReport.h"
#include "RuleParagraph.h"
#include "WrappedText.h"
#include "anec/Formats/Source.h"
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

static void printFindingCounts(llvm::StringRef target, const Counts &counts,
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
    printFindingCounts(target->name, counts, out);
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

/// Whether a file is a model of a training, which only Core ML gets in fp16.
static bool hasOwnPrecision(const CheckResult &result,
                            llvm::ArrayRef<std::string> files) {
  return result.assumptions.path != EnginePath::CoreML &&
         llvm::any_of(files, [](const std::string &file) {
           return sourceFormat(file).isOfTraining;
         });
}

/// What to ask for to see more, or something else.
static void printHints(const CheckResult &result, FindingDetail detail,
                       const ReportStyle &style, llvm::raw_ostream &out) {
  std::string text;
  if (hasOwnPrecision(result, style.files))
    text += "A model is checked as it is; --for=coreml checks the package in "
            "fp16 that anec makes of it. ";
  if (detail == FindingDetail::ByRule)
    text += "--all has every place and all that is known of a rule; "
            "--assume=RULE=allow switches a rule off.";
  printWrapped(text, style.width, 0, out);
}

void anec::printFindings(const CheckResult &result, FindingDetail detail,
                         const ReportStyle &style, const Diagnostics &diags,
                         llvm::raw_ostream &out) {
  if (!result.outlooks.empty())
    printOutlooks(result.outlooks, style.colors, out);
  std::vector<RuleParagraph> paragraphs = paragraphsOf(result, detail);
  size_t recorded = addPlacements(result, paragraphs);
  if (!diags.all().empty() || !paragraphs.empty())
    out << '\n';
  diags.print(out, style.colors);
  for (const RuleParagraph &paragraph : paragraphs)
    printParagraph(paragraph, detail, style, diags, out);
  if (!paragraphs.empty())
    printHints(result, detail, style, out);
  if (!diags.all().empty() || !paragraphs.empty())
    out << '\n';
  Counts others = {};
  others[size_t(Severity::Remark)] += recorded;
  for (const Diagnostic &diagnostic : diags.all())
    ++others[size_t(diagnostic.severity())];
  printTotals(result, others, out);
}
