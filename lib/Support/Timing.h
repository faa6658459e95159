//===- Timing.h - run times -------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_TIMING_H
#define ANEC_LIB_SUPPORT_TIMING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <vector>

namespace anec {

/// Measures the milliseconds since its construction.
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

/// The times of runs, in milliseconds.
class Timing {
public:
  void add(double milliseconds) { values.push_back(milliseconds); }
  size_t size() const { return values.size(); }
  /// The times in the order of the runs.
  llvm::ArrayRef<double> runs() const { return values; }

  /// The quantile `q` (0 to 1) of the times. There must be at least one run.
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

#endif // ANEC_LIB_SUPPORT_TIMING_H
