//===- StepClock.h - where the time of a step goes --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_STEPCLOCK_H
#define ANEC_LIB_TRAIN_STEPCLOCK_H

#include "anec/Runtime/Session.h"
#include "anec/Train/TrainLog.h"
#include "lib/Train/Trace.h"

namespace anec {

/// Sums the times of the parts of a step, and records a timeline of the first
/// steps.
class StepClock {
public:
  using Clock = Trace::Clock;
  static double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// `traced`: number of steps to record.
  explicit StepClock(uint64_t traced) : traced(traced) {}

  void begin(uint64_t step) {
    number = step;
    record = {};
    leftOut = 0;
    start = Clock::now();
  }
  /// Starts the part that runs until the next mark.
  void mark() { since = Clock::now(); }
  void addKernels(llvm::ArrayRef<PartTime> parts);
  void addOptimizer(llvm::StringRef what) {
    record.optimizerMs += note(Trace::Optimizer, what);
  }
  void addFiles(llvm::StringRef what) {
    record.ioMs += note(Trace::Files, what);
  }
  /// Leaves the part since the last mark out of the step's time. Returns its
  /// seconds.
  double leaveOut(llvm::StringRef what) {
    double seconds = note(Trace::Files, what) * 1e-3;
    leftOut += seconds;
    return seconds;
  }
  /// Stores the times in `step`, and counts the step as recorded.
  void end(StepRecord &step);

  const Trace &trace() const { return events; }
  bool isTracing() const { return traced > 0; }

private:
  double note(Trace::Row row, llvm::StringRef what);

  Trace events;
  uint64_t traced, number = 0;
  StepRecord record;
  double leftOut = 0; ///< seconds
  Clock::time_point start, since;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_STEPCLOCK_H
