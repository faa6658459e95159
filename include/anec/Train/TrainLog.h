//===- TrainLog.h - what happened at each step ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `train.jsonl`: one JSON object per line, one line per step. When a killed
/// run is resumed, lines after its last checkpoint are removed, because those
/// steps are repeated.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_TRAINLOG_H
#define ANEC_TRAIN_TRAINLOG_H

#include "anec/Support/Diagnostics.h"
#include "anec/Support/Folder.h"
#include "anec/Support/Words.h"
#include <memory>

namespace anec {

/// What the size of data and the speed of training are counted in.
ANEC_ENUM(DataUnit, (Tokens, "tokens"), (Examples, "examples"))

/// A line of the log.
struct StepRecord {
  uint64_t step = 0;
  double loss = 0; ///< the mean over the step's runs
  std::optional<double> validationLoss;
  /// The means of what the model returns beside its loss, by name; of the
  /// validation windows when there is a validation loss.
  std::vector<std::pair<std::string, double>> metrics, validationMetrics;
  double learningRate = 0, gradientNorm = 0, lossScale = 1;
  bool skipped = false; ///< gradients were not finite: no weight changed
  uint64_t epoch = 0;
  uint64_t units = 0; ///< total of all steps so far
  DataUnit unit = DataUnit::Tokens;
  // Milliseconds: the total and its parts.
  double ms = 0, kernelMs = 0, hostMs = 0, optimizerMs = 0, ioMs = 0;
  // Milliseconds beside the step: of its validation, when there is a validation
  // loss, and what checkpoints kept it from running, which includes waiting for
  // the files of an earlier checkpoint, and copies of what is not written yet.
  double validationMs = 0;
  std::optional<double> checkpointMs, checkpointWaitMs, checkpointCopyMs;
  /// Milliseconds that a checkpoint took, which was complete at this step; most
  /// of them beside other steps.
  std::optional<double> checkpointWriteMs;
};

/// Values over steps, reduced to at most `most` points: each is the mean of
/// enough consecutive values.
class LossSeries {
public:
  struct Point {
    uint64_t step; ///< the last step of the point
    double loss;
  };
  void add(uint64_t step, double loss);
  llvm::ArrayRef<Point> points() const { return kept; }

  static constexpr size_t most = 8192;

private:
  std::vector<Point> kept; ///< the last may have fewer values
  uint64_t each = 1;       ///< values per point
  uint64_t inLast = 1;     ///< values of the last point
};

/// The data of a loss curve.
struct LossHistory {
  LossSeries training, validation;
  void add(const StepRecord &record);
  void addValidation(const StepRecord &record);
};

/// Reads a log. Returns nothing, with the reason reported, when a line is not a
/// record.
[[nodiscard]] std::optional<LossHistory> readTrainLog(llvm::StringRef path,
                                                      Diagnostics &diags);

class TrainLog {
public:
  /// Opens or creates the log `name` in `folder`. Keeps the lines of steps up
  /// to `keptSteps`.
  [[nodiscard]] static std::unique_ptr<TrainLog>
  open(std::shared_ptr<const Folder> folder, llvm::StringRef name,
       uint64_t keptSteps, Diagnostics &diags);
  ~TrainLog();

  [[nodiscard]] bool add(const StepRecord &record, Diagnostics &diags);
  /// Adds the validation in `record`, which was measured late, to the last
  /// line, which is that of its step.
  [[nodiscard]] bool addValidation(const StepRecord &record,
                                   Diagnostics &diags);
  const LossHistory &history() const { return past; }

private:
  TrainLog(std::shared_ptr<const Folder> folder, std::string name)
      : folder(std::move(folder)), name(std::move(name)) {}
  [[nodiscard]] bool openFile(Diagnostics &diags);
  [[nodiscard]] bool replaceFile(llvm::StringRef text, Diagnostics &diags);
  void report(int error, Diagnostics &diags) const;

  std::shared_ptr<const Folder> folder;
  std::string name;
  int descriptor = -1;
  LossHistory past;
};

} // namespace anec

#endif // ANEC_TRAIN_TRAINLOG_H
