//===- FindingText.h - findings as text -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_FINDINGTEXT_H
#define ANEC_LIB_REPORT_FINDINGTEXT_H

#include "lib/Report/FindingReport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <map>

namespace anec {

/// Prints `1 error` or `2 errors`.
inline void printCount(llvm::raw_ostream &out, uint64_t count,
                       llvm::StringRef what) {
  out << count << ' ' << what << (count == 1 ? "" : "s");
}

/// The findings of a rule for the same targets.
using RuleFindings =
    std::pair<std::pair<const Rule *, std::vector<const Target *>>,
              std::vector<const Finding *>>;

/// In the order in which each rule is broken first.
inline llvm::SmallVector<RuleFindings, 0>
groupByRule(llvm::ArrayRef<Finding> findings) {
  using Key = RuleFindings::first_type;
  llvm::MapVector<Key, std::vector<const Finding *>, std::map<Key, unsigned>>
      ofRule;
  for (const Finding &finding : findings)
    ofRule[{finding.rule, finding.targets}].push_back(&finding);
  return ofRule.takeVector();
}
/// The same; rules with errors come first.
llvm::SmallVector<RuleFindings, 0> groupBySeverity(const CheckResult &result);

/// Reports the first finding of each group, with the places of the others.
inline void reportGroups(llvm::ArrayRef<RuleFindings> groups,
                         const Assumptions &assumptions, Diagnostics &diags,
                         llvm::ArrayRef<const Target *> targets) {
  for (const auto &[rule, findings] : groups)
    reportFinding(*findings.front(), assumptions, diags,
                  llvm::ArrayRef(findings).drop_front(), targets);
}

/// Prints for each target the number of findings by severity, to which
/// `others` are added, then what dumps have recorded, and what became of a
/// baseline.
void printTotals(const CheckResult &result, const std::array<size_t, 4> &others,
                 llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_FINDINGTEXT_H
