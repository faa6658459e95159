//===- Plot.h - charts of what suites measured -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SUITES_PLOT_H
#define ANEC_TOOLS_ANE_RUN_SUITES_PLOT_H

#include "Report.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

/// Writes a chart for each suite with figures, `folder`/SUITE.svg: what was
/// measured as curves, what others published as rings. All or none.
bool writePlots(llvm::ArrayRef<SuiteReport> reports,
                const SuiteSurroundings &surroundings, llvm::StringRef folder,
                Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SUITES_PLOT_H
