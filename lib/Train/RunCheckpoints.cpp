//===- RunCheckpoints.cpp - when a run saves, and how long that takes ----===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TrainingRun.h"
#include "lib/Train/LossPlot.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

std::vector<NamedFloats> TrainingRun::trainedWeights() {
  llvm::ArrayRef<NamedFloats> all = model.weights().trainedWeights();
  if (state.base.empty())
    return all.vec();
  llvm::StringSet<> trained;
  for (const NamedFloats &gradient : model.weights().gradients())
    trained.insert(gradient.name);
  std::vector<NamedFloats> kept;
  for (const NamedFloats &weight : all)
    if (trained.contains(weight.name))
      kept.push_back(weight);
  return kept;
}

void TrainingRun::keepBest(TrainState &state) {
  if (state.validationLoss &&
      (!state.bestLoss || *state.validationLoss < *state.bestLoss)) {
    state.bestLoss = state.validationLoss;
    state.bestStep = state.step;
  }
}

bool TrainingRun::watchLoss(const StepRecord &record) {
  if (!options.patience || !record.validationLoss)
    return true;
  uint64_t before = state.bestStep;
  keepBest(state);
  if (state.bestStep == before) {
    ++state.sinceBest;
    return true;
  }
  state.sinceBest = 0;
  return save();
}

/// Makes a checkpoint complete that is being written, if there is one.
bool TrainingRun::finishCheckpoint() {
  if (!checkpoints->isWriting())
    return true;
  auto begin = StepClock::Clock::now();
  std::optional<double> seconds = checkpoints->finish(diags);
  if (!seconds)
    return false;
  writing.waited += StepClock::secondsSince(begin);
  // Steps also wait for its folder and for loss.svg, which the writer does not
  // time.
  double whole = std::max(*seconds, writing.waited);
  times.checkpoints.add(whole);
  times.waits.add(writing.waited);
  progress.showCheckpoint(writing.step, whole, writing.waited);
  nextRecord.checkpointWriteMs = *seconds * 1e3;
  return true;
}

bool TrainingRun::finishIfReady() {
  if (!checkpoints->isReady())
    return true;
  clock.mark();
  bool ok = finishCheckpoint();
  addWait(clock.leaveOut("checkpoint"));
  return ok;
}

void TrainingRun::aboutToChangeWeights() {
  if (!checkpoints->isWriting())
    return;
  clock.mark();
  checkpoints->aboutToChange();
  double seconds = clock.leaveOut("checkpoint copied");
  // Nothing is copied twice.
  if (writing.isCopied)
    return;
  writing.isCopied = true;
  writing.waited += seconds;
  nextRecord.checkpointCopyMs = seconds * 1e3;
  addWait(seconds);
}

void TrainingRun::addWait(double seconds) {
  nextRecord.checkpointMs = nextRecord.checkpointMs.value_or(0) + seconds * 1e3;
}

void TrainingRun::addCheckpointTimes(StepRecord &record) {
  StepRecord times = std::exchange(nextRecord, {});
  record.checkpointMs = times.checkpointMs;
  record.checkpointWaitMs = times.checkpointWaitMs;
  record.checkpointCopyMs = times.checkpointCopyMs;
  record.checkpointWriteMs = times.checkpointWriteMs;
}

/// Waits for an earlier checkpoint, so that there is never more than one.
bool TrainingRun::waitForCheckpoint() {
  if (!checkpoints->isWriting())
    return true;
  bool waits = !checkpoints->isReady();
  auto begin = StepClock::Clock::now();
  if (!finishCheckpoint())
    return false;
  double seconds = StepClock::secondsSince(begin);
  if (!waits)
    return true;
  nextRecord.checkpointWaitMs = seconds * 1e3;
  progress.showWait(state.step, seconds);
  return true;
}

bool TrainingRun::save() {
  if (saved == state.step)
    return true;
  auto begin = StepClock::Clock::now();
  if (!waitForCheckpoint())
    return false;
  auto begun = StepClock::Clock::now();
  TrainState written = state;
  keepBest(written);
  if (together.isFirst() &&
      !checkpoints->begin(written, trainedWeights(), optimizer->moments(),
                          workspace->executor(), diags))
    return false;
  state = written;
  saved = state.step;
  if (!plot())
    return false;
  writing = {state.step, StepClock::secondsSince(begun)};
  addWait(StepClock::secondsSince(begin));
  return true;
}

bool TrainingRun::plot() {
  return !log || log->history().training.points().empty() ||
         writeLossPlot(log->history(), folder->folder(), "loss.svg", diags);
}
