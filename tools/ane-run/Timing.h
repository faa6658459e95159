//===- Timing.h - how long runs took ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_TIMING_H
#define ANEC_TOOLS_ANE_RUN_TIMING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <vector>

namespace anec {

/// Milliseconds since it was made.
class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start)
        .count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// Milliseconds of every run.
class Timing {
public:
  void add(double milliseconds) { values.push_back(milliseconds); }
  size_t size() const { return values.size(); }
  /// Runs in their order.
  llvm::ArrayRef<double> runs() const { return values; }

  /// The least value that a share of `q` of the runs is below; of some runs.
  double quantile(double q) const {
    std::vector<double> sorted = values;
    llvm::sort(sorted);
    return sorted[std::min(sorted.size() - 1,
                           size_t(q * double(sorted.size())))];
  }
  double least() const { return quantile(0); }
  double median() const { return quantile(0.5); }

private:
  std::vector<double> values;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_TIMING_H
