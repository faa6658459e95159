//===- FindingText.h - findings as text -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_FINDINGTEXT_H
#define ANEC_LIB_REPORT_FINDINGTEXT_H

#include "anec/Target/Check.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

namespace anec {

/// Prints `1 error` or `2 errors`.
inline void printCount(llvm::raw_ostream &out, uint64_t count,
                       llvm::StringRef what) {
  out << count << ' ' << what << (count == 1 ? "" : "s");
}

/// The findings of a rule.
using RuleFindings = std::pair<const Rule *, std::vector<const Finding *>>;

/// In the order in which each rule is broken first.
inline llvm::SmallVector<RuleFindings, 0>
groupByRule(llvm::ArrayRef<Finding> findings) {
  llvm::MapVector<const Rule *, std::vector<const Finding *>> ofRule;
  for (const Finding &finding : findings)
    ofRule[finding.rule].push_back(&finding);
  return ofRule.takeVector();
}

/// Reports the first finding of each group, with the places of the others.
inline void reportGroups(llvm::ArrayRef<RuleFindings> groups,
                         const Assumptions &assumptions, Diagnostics &diags) {
  for (const auto &[rule, findings] : groups)
    reportFinding(*findings.front(), assumptions, diags,
                  llvm::ArrayRef(findings).drop_front());
}

} // namespace anec

#endif // ANEC_LIB_REPORT_FINDINGTEXT_H
