//===- Measure.h - times a row of a suite ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SUITES_MEASURE_H
#define ANEC_TOOLS_ANE_RUN_SUITES_MEASURE_H

#include "../Timing.h"
#include "Suite.h"
#include "anec/Runtime/Backend.h"

namespace anec {

/// What came of a row. Only one that was measured has a figure.
struct RowResult {
  enum Outcome : uint8_t {
    Measured,
    Refused, ///< the backend does not load it
    Failed,  ///< it loads, and does not run
    Wrong,   ///< it runs, and gives something else
  };
  Outcome outcome = Refused;
  std::string message; ///< why there is no figure
  Timing timing;
  double loadMs = 0;
  /// How far the outputs were from what is right: the worst of the runs that
  /// were looked at. See CheckedErrors.
  double error = 0, errorToCpu = 0;
  /// What the CPU backend is off by, and what is let pass.
  double cpuError = 0, tolerance = 0;

  bool isMeasured() const { return outcome == Measured; }
  double teraflops(const SuiteRow &row) const {
    return double(row.flops()) / timing.median() * 1e-9;
  }
};
/// `measured`, `refused`, `failed`, `wrong`.
llvm::StringRef spelling(RowResult::Outcome outcome);

struct MeasureOptions {
  LoadOptions load;
  unsigned warmup = 10, iterations = 50;
};

/// Runs the row's kernels with the negative of its input and checks what comes
/// out; then, with its input, warms up, takes the time, and checks again: what
/// is left from an earlier run has the wrong sign. What is timed is running
/// alone, with inputs that are there already; of several kernels, also the way
/// of each one's outputs to the next. Nothing, with the reason reported, when
/// it is not known what is right.
std::optional<RowResult> measureRow(const SuiteRow &row, Backend &backend,
                                    const MeasureOptions &options,
                                    Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SUITES_MEASURE_H
