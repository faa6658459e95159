//===- StepClock.h - where the time of a step goes --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_STEPCLOCK_H
#define ANEC_LIB_TRAIN_STEPCLOCK_H

#include "anec/Runtime/Session.h"
#include "anec/Train/Trace.h"
#include "anec/Train/TrainLog.h"

namespace anec {

/// Adds up what the parts of a step take, and traces the first steps.
class StepClock {
public:
  using Clock = Trace::Clock;

  /// `traced`: how many steps go into the trace.
  explicit StepClock(uint64_t traced) : traced(traced) {}

  void begin(uint64_t step) {
    number = step;
    record = {};
    start = Clock::now();
  }
  /// What runs from now to the next mark.
  void mark() { since = Clock::now(); }
  void addKernels(llvm::ArrayRef<PartTime> parts);
  void addOptimizer(llvm::StringRef what) {
    record.optimizerMs += note(Trace::Optimizer, what);
  }
  void addFiles(llvm::StringRef what) {
    record.ioMs += note(Trace::Files, what);
  }
  /// Fills the times of `step`; counts it as traced.
  void end(StepRecord &step);

  const Trace &trace() const { return events; }
  bool isTracing() const { return traced > 0; }

private:
  double note(Trace::Row row, llvm::StringRef what);

  Trace events;
  uint64_t traced, number = 0;
  StepRecord record;
  Clock::time_point start, since;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_STEPCLOCK_H
