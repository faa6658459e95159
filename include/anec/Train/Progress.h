//===- Progress.h - what a person sees while a model trains -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Progress of a run: on a terminal one line that is redrawn, otherwise a line
/// every few seconds.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_PROGRESS_H
#define ANEC_TRAIN_PROGRESS_H

#include "anec/Train/RunTimes.h"
#include "anec/Train/TrainLog.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <functional>

namespace anec {

class Progress {
public:
  /// `width` gives the current number of columns of the terminal `out`; null
  /// when it is not a terminal.
  explicit Progress(llvm::raw_ostream &out,
                    std::function<unsigned()> width = nullptr)
      : out(out), width(std::move(width)) {}

  /// Starts a run of `steps` steps, `done` of which are complete. A step takes
  /// `units` of what data is counted in, `tokens` or `examples`.
  void start(uint64_t done, uint64_t steps, uint64_t units, DataUnit unit);
  /// Shows a step, which `times` includes.
  void show(const StepRecord &record, const RunTimes &times);
  /// Prints how long the checkpoint of a step took, and for how much of that
  /// steps waited. On a terminal the line that is redrawn stays the only one.
  void showCheckpoint(uint64_t step, double seconds, double waited);
  /// Prints how long the checkpoint of a step waited for another one, unless on
  /// a terminal.
  void showWait(uint64_t step, double seconds);
  /// Prints `text` on a line of its own.
  void say(const llvm::Twine &text);
  /// Finishes the line being redrawn, if there is one.
  void end();

private:
  using Clock = std::chrono::steady_clock;
  /// The line, shorter than `columns` unless they are 0.
  std::string format(const StepRecord &record, const RunTimes &times,
                     unsigned columns) const;

  llvm::raw_ostream &out;
  std::function<unsigned()> width;
  bool isOpen = false; ///< a line is being redrawn
  size_t shownLength = 0;
  uint64_t first = 0, last = 0, unitsPerStep = 0;
  DataUnit unit = DataUnit::Tokens;
  Clock::time_point shown;
  std::optional<double> validationLoss;
  /// Running means of the times of a step and of its parts.
  struct Means {
    double step = 0, kernels = 0, host = 0, optimizer = 0, io = 0;
  } meanMs;
};

} // namespace anec

#endif // ANEC_TRAIN_PROGRESS_H
