//===- Measure.h - times a row of a suite -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_BENCH_MEASURE_H
#define ANEC_LIB_BENCH_MEASURE_H

#include "anec/Runtime/Backend.h"
#include "lib/Bench/Suite.h"
#include "lib/Support/Timing.h"

namespace anec {

/// The result of a row. Only a measured row has a figure.
struct RowResult {
  enum Outcome : uint8_t {
    Measured,
    Refused, ///< the backend does not load it
    Failed,  ///< it loads, but does not run
    Wrong,   ///< it runs, but its outputs are wrong
  };
  Outcome outcome = Refused;
  std::string message; ///< why there is no figure
  Timing timing;
  /// The engine's own times of the runs; empty where it reports none.
  Timing engine;
  double loadMs = 0;
  /// The largest errors of the outputs in the runs that were checked; see
  /// CheckedErrors.
  double error = 0, errorToCpu = 0;
  /// The error of the CPU backend, and the largest error that is accepted.
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

/// Runs the row's kernels with its negated input and checks the outputs; then,
/// with its input, warms up, times runs, and checks again: outputs left over
/// from an earlier run have the wrong sign. Times cover only running, with
/// inputs already in place; with several kernels, they include copying the
/// outputs of each to the next. Returns nothing, with the reason reported, when
/// the right outputs cannot be computed.
[[nodiscard]] std::optional<RowResult> measureRow(const SuiteRow &row,
                                                  Backend &backend,
                                                  const MeasureOptions &options,
                                                  Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_BENCH_MEASURE_H
