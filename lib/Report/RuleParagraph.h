//===- RuleParagraph.h - a broken rule as a paragraph -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_RULEPARAGRAPH_H
#define ANEC_LIB_REPORT_RULEPARAGRAPH_H

#include "lib/Report/FindingReport.h"

namespace anec {

/// A line that editors jump to, then sentences: further places, what is known,
/// and what to do.
struct RuleParagraph {
  Severity severity;
  llvm::StringRef id; ///< of the rule
  struct Place {
    SourceRange range;
    std::string what; ///< empty for what the first one says
  };
  std::vector<Place> places; ///< at least one
  std::string text;          ///< sentences
};

/// A paragraph for each rule that is broken; rules with errors come first.
std::vector<RuleParagraph> paragraphsOf(const CheckResult &result,
                                        FindingDetail detail);

/// Prints the first place as a diagnostic. Others are named in the text, or for
/// All printed as the first.
void printParagraph(const RuleParagraph &paragraph, FindingDetail detail,
                    const ReportStyle &style, const Diagnostics &diags,
                    llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_RULEPARAGRAPH_H
