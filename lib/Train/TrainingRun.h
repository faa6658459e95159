//===- TrainingRun.h - a run from its first step to its last ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_TRAININGRUN_H
#define ANEC_LIB_TRAIN_TRAININGRUN_H

#include "Resume.h"
#include "StepClock.h"
#include "anec/Train/AdamW.h"
#include "anec/Train/TrainLog.h"

namespace anec {

class TrainingRun {
public:
  TrainingRun(const TrainOptions &options, Backend &backend, Progress &progress,
              Diagnostics &diags)
      : options(options), backend(backend), progress(progress), diags(diags),
        together(options.collective ? *options.collective : alone),
        workspace(options.load.workspace ? options.load.workspace
                                         : std::make_shared<Workspace>()),
        clock(options.profile.empty() ? 0 : options.profiledSteps) {}

  /// Creates or resumes the state, and opens data, session and log.
  bool open();
  bool loop();

private:
  bool runSteps();
  bool findState(const ModelPackage &package);
  bool findEntry(const ModelPackage &package);
  std::string tokenizerPath() const;
  bool checkShare();
  bool openData();
  bool openModel(ModelPackage package);
  bool findBase(const ModelPackage &package, const WeightOptions &weights);
  /// The weights that a checkpoint has.
  std::vector<NamedFloats> trainedWeights();
  bool step(StepRecord &record);
  /// Sets the mean loss and metrics over the step's runs, gradients summed up.
  bool runAll(StepRecord &record);
  /// The means over `count` runs of sums: the loss, then the metrics.
  std::vector<std::pair<std::string, double>>
  meanMetrics(llvm::ArrayRef<double> sums, double count) const;
  /// Adds the loss and metrics of the last run.
  void addTo(std::vector<double> &sums, float loss) const;
  /// The tokens, or examples, that a step takes.
  double unitsPerStep() const {
    return state.hyper.batch * double(data->unitsPerRun());
  }
  bool update(StepRecord &record);
  bool validate(StepRecord &record);
  uint64_t validationRuns() const;
  void readValidation(uint64_t run);
  bool openValidationData();
  /// Counts validations without a better loss, and saves a better one.
  bool watchLoss(const StepRecord &record);
  bool isOutOfPatience() const {
    return options.patience && state.sinceBest >= options.patience;
  }
  bool validateFirst();
  bool validateOrLeave(StepRecord &record, bool isDue);
  bool needsRestart() const {
    return options.restart && options.restart->isNeeded;
  }
  static void keepBest(TrainState &state);
  /// Begins to write a checkpoint of the last step, unless there is one.
  bool save();
  bool waitForCheckpoint();
  bool finishCheckpoint();
  /// The same, when its files are written. Left out of the step's time.
  bool finishIfReady();
  void aboutToChangeWeights();
  /// Notes seconds in which a checkpoint kept steps from running.
  void addWait(double seconds);
  /// Moves what is known of checkpoints to the line of a step.
  void addCheckpointTimes(StepRecord &record);
  bool plot();
  bool isDue(uint64_t every) const { return every && state.step % every == 0; }
  bool isTraced() const {
    return !options.profile.empty() && together.isFirst();
  }
  bool isAsked() const { return options.stop && *options.stop; }
  /// Makes all processes stop after the same step.
  bool isStopped() const {
    return together.size() == 1 ? isAsked() : stopIsAgreed;
  }
  void summarize(double seconds);

  const TrainOptions &options;
  Backend &backend;
  Progress &progress;
  Diagnostics &diags;
  Collective alone;
  Collective &together;
  std::shared_ptr<Workspace> workspace; ///< of the session, too
  StepClock clock;

  std::unique_ptr<RunFolder> folder;
  std::optional<Checkpoint> begun; ///< what the run goes on from
  TrainState state;
  TrainingStep model;
  std::unique_ptr<TrainingData> data;
  std::unique_ptr<TrainingData> validation; ///< null: a share of `data`
  std::optional<DataOrder> order;
  std::unique_ptr<AdamW> optimizer;
  std::unique_ptr<TrainLog> log;
  std::optional<CheckpointWriter> checkpoints;
  uint64_t saved = 0; ///< the step of the last checkpoint
  bool stopIsAgreed = false;
  uint64_t firstStep = 0;             ///< done before this run
  StepClock::Clock::time_point begin; ///< of the first step of this run
  RunTimes times;                     ///< of this run
  /// The checkpoint that is being written, and the seconds that steps waited
  /// for it.
  struct {
    uint64_t step = 0;
    double waited = 0;
    bool isCopied = false;
  } writing;
  StepRecord nextRecord; ///< times of checkpoints, for the next line
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_TRAININGRUN_H
