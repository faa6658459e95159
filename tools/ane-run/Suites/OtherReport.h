//===- OtherReport.h - what suites measured elsewhere ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SUITES_OTHERREPORT_H
#define ANEC_TOOLS_ANE_RUN_SUITES_OTHERREPORT_H

#include "Suite.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

/// A report that somebody shared, as far as it is shown beside another.
struct OtherReport {
  struct Figure {
    std::string suite, label, form;
    double milliseconds, teraflops; ///< at the median
  };
  std::string machine; ///< `Apple M4 Max, ane by in-memory`
  std::vector<Figure> figures;

  /// Null when it has none.
  const Figure *find(const Suite &suite, const SuiteRow &row) const;
};

/// Nothing, with the reason reported, when the file is no report.
std::optional<OtherReport> readReport(llvm::StringRef path, Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SUITES_OTHERREPORT_H
