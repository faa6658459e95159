//===- TrainLog.h - what happened at each step ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `train.jsonl`: one JSON object a line, one line a step. What a run that was
/// killed wrote beyond its last checkpoint is dropped when it is resumed, since
/// those steps are done again.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_TRAINLOG_H
#define ANEC_TRAIN_TRAINLOG_H

#include "anec/Support/Diagnostics.h"
#include <memory>

namespace anec {

/// A line of the log.
struct StepRecord {
  uint64_t step = 0;
  double loss = 0; ///< the mean over the step's windows
  std::optional<double> validationLoss;
  double learningRate = 0, gradientNorm = 0, lossScale = 1;
  bool skipped = false; ///< gradients were not finite: no weight changed
  uint64_t epoch = 0;
  uint64_t tokens = 0; ///< of all steps so far
  // Milliseconds: the whole, and what it is made of.
  double ms = 0, kernelMs = 0, hostMs = 0, optimizerMs = 0, ioMs = 0;
};

/// Values over steps. However many there are, it keeps a few thousand: each the
/// mean of as many neighbours as it takes.
class LossSeries {
public:
  struct Point {
    uint64_t step; ///< the last one
    double loss;
  };
  void add(uint64_t step, double loss);
  llvm::ArrayRef<Point> points() const { return kept; }

  static constexpr size_t most = 8192;

private:
  std::vector<Point> kept; ///< the last of them may be of fewer values
  uint64_t each = 1;       ///< values of a point
  uint64_t inLast = 1;     ///< those of the last
};

/// What a curve is drawn from.
struct LossHistory {
  LossSeries training, validation;
  void add(const StepRecord &record);
};

/// Reads a log; nothing, with the reason reported, when a line is not one.
std::optional<LossHistory> readTrainLog(llvm::StringRef path,
                                        Diagnostics &diags);

class TrainLog {
public:
  /// Opens the log at `path`. Lines of steps up to `keptSteps` stay, if it is
  /// there; none with 0.
  static std::unique_ptr<TrainLog> open(llvm::StringRef path,
                                        uint64_t keptSteps, Diagnostics &diags);
  ~TrainLog();

  bool add(const StepRecord &record, Diagnostics &diags);
  const LossHistory &history() const { return past; }

private:
  TrainLog(std::string path, int descriptor)
      : path(std::move(path)), descriptor(descriptor) {}
  std::string path;
  int descriptor;
  LossHistory past;
};

} // namespace anec

#endif // ANEC_TRAIN_TRAINLOG_H
