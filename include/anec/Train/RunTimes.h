//===- RunTimes.h - where the time of a run goes ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The measured times of steps, validations and checkpoints, and what is left
/// of a run by them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_RUNTIMES_H
#define ANEC_TRAIN_RUNTIMES_H

#include <cstdint>
#include <string>

namespace anec {

/// When a run validates and saves, which it also does after its last step.
struct RunSchedule {
  uint64_t steps = 0;         ///< total, including those before a resume
  uint64_t validateEvery = 0; ///< steps; 0: only after the last
  uint64_t saveEvery = 0;     ///< steps; 0: only after the last
  bool validates = true;      ///< whether there is data to validate with
};

class RunTimes {
public:
  /// How often something was done, and how long that took in total.
  struct Measured {
    uint64_t count = 0;
    double seconds = 0;
    double mean() const { return count ? seconds / double(count) : 0; }
    void add(double time) {
      ++count;
      seconds += time;
    }
  };

  RunTimes() = default;
  explicit RunTimes(const RunSchedule &schedule) : schedule(schedule) {}

  Measured steps, validations;
  Measured checkpoints; ///< from the first byte until the last is on the disk
  Measured waits;       ///< of steps, for each checkpoint

  /// The time that is left once step `step` is done and validated, but not
  /// saved: `1:02:03`. Checkpoints are written beside steps, except for the
  /// last. What is still to come and was never measured is named
  /// instead: `0:05 + 1 validation + 2 checkpoints`.
  std::string remaining(uint64_t step) const;
  /// `6 validations in 1.2 s, 3 checkpoints in 2.3 s (steps waited 0.4 s)`;
  /// empty if there were none.
  std::string others() const;

private:
  RunSchedule schedule;
};

} // namespace anec

#endif // ANEC_TRAIN_RUNTIMES_H
