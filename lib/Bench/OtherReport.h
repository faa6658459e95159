//===- OtherReport.h - figures of another report ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_BENCH_OTHERREPORT_H
#define ANEC_LIB_BENCH_OTHERREPORT_H

#include "anec/Support/Diagnostics.h"
#include "lib/Bench/Suite.h"

namespace anec {

/// The figures of another machine's report.
struct OtherReport {
  struct Figure {
    std::string suite, label, form;
    double milliseconds, teraflops; ///< at the median
  };
  std::string machine; ///< `Apple M4 Max, ane by in-memory`
  std::vector<Figure> figures;

  /// The figure of a row; null when there is none.
  const Figure *find(const Suite &suite, const SuiteRow &row) const;
};

/// Reads what printSuiteReports writes. Returns nothing, with the reason
/// reported, when the file is not such a report.
[[nodiscard]] std::optional<OtherReport> readSuiteReport(llvm::StringRef path,
                                                         Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_BENCH_OTHERREPORT_H
