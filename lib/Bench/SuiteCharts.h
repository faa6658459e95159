//===- SuiteCharts.h - charts of what suites measured -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_BENCH_SUITECHARTS_H
#define ANEC_LIB_BENCH_SUITECHARTS_H

#include "anec/Support/Diagnostics.h"
#include "lib/Bench/SuiteReport.h"

namespace anec {

/// Writes a chart for each suite with figures, `folder`/SUITE.svg: measured
/// figures as curves, published ones as rings. All charts or none.
[[nodiscard]] bool writeSuiteCharts(llvm::ArrayRef<SuiteReport> reports,
                                    const SuiteContext &context,
                                    llvm::StringRef folder, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_BENCH_SUITECHARTS_H
