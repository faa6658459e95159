//===- Progress.h - what a person sees while a model trains -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// One line that is rewritten on a terminal, and a line every few seconds
/// elsewhere.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_PROGRESS_H
#define ANEC_TRAIN_PROGRESS_H

#include "anec/Train/TrainLog.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace anec {

class Progress {
public:
  /// `columns`: of the terminal that `out` is, where a carriage return lets a
  /// line be rewritten; 0 when it is none.
  Progress(llvm::raw_ostream &out, unsigned columns)
      : out(out), columns(columns) {}

  /// Begins with the step after `done`, of `steps`, of `tokens` each.
  void start(uint64_t done, uint64_t steps, uint64_t tokens);
  void show(const StepRecord &record);
  /// A line of its own.
  void say(const llvm::Twine &text);
  /// Ends the line that stands there, if there is one.
  void end();

private:
  using Clock = std::chrono::steady_clock;
  std::string format(const StepRecord &record) const;

  llvm::raw_ostream &out;
  unsigned columns;
  bool isOpen = false; ///< a line that can be rewritten stands there
  size_t shownLength = 0;
  uint64_t first = 0, last = 0, tokensPerStep = 0;
  Clock::time_point begin, shown;
  std::optional<double> validationLoss;
  double meanMs = 0; ///< of a step, over the last ones
};

} // namespace anec

#endif // ANEC_TRAIN_PROGRESS_H
