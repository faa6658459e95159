//===- Trainer.h - the training loop ----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Trains the model of a package on text: data, optimizer, checkpoints, log.
///
///   anec::TrainOptions options;
///   options.package = "llama.anepkg";
///   options.data = {"text.txt"};
///   options.checkpoint = "run";
///   options.steps = 500;
///   anec::train(options, *backend, progress, diags);
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_TRAINER_H
#define ANEC_TRAIN_TRAINER_H

#include "anec/Runtime/Session.h"
#include "anec/Train/Collective.h"
#include "anec/Train/Hyperparameters.h"
#include "anec/Train/Progress.h"
#include <atomic>

namespace anec {

/// What a run needs that cannot go on in this process.
struct TrainRestart {
  bool isNeeded = false;
  uint64_t step = 0; ///< it is saved at
  /// Its validation was due, and is the next process's to do.
  bool validates = false;
};

struct TrainOptions {
  std::string package;
  std::vector<std::string> data; ///< files and folders
  std::string tokenizer;         ///< a file; empty: bytes are tokens
  std::string checkpoint;        ///< the run's folder
  uint64_t steps = 0;            ///< of the whole run
  bool resume = false;

  LoadOptions load; ///< but for numerics
  /// fp16 unless they are given, or the checkpoint's.
  std::optional<Numerics> numerics;
  /// Where weights begin; without any, those in the package, or drawn by the
  /// seed.
  WeightOptions weights;
  /// Of the order of the data, and the weights: 0 unless it is given, or the
  /// checkpoint's.
  std::optional<uint64_t> seed;
  /// What differs from the defaults, or the checkpoint's.
  std::vector<std::pair<const HyperparameterDef *, double>> hyper;
  /// Share of the windows that validate: 0.05 unless it is given, or the
  /// checkpoint's.
  std::optional<double> validationShare;

  uint64_t saveEvery = 100; ///< 0: only at the end
  uint64_t validateEvery = 100;
  uint64_t validationWindows = 16; ///< evaluated each time; 0: all
  unsigned keep = 3;               ///< newest checkpoints; 0: all
  std::string profile;             ///< a trace of the first steps
  uint64_t profiledSteps = 5;

  /// Set when the backend can load no more programs in this process: the run
  /// is then saved, and another process may resume it. Null makes that an
  /// error.
  TrainRestart *restart = nullptr;
  /// Validates before the first step, for the process before this one.
  bool validateFirst = false;

  /// The processes that take a share of each step's windows; null for this one
  /// alone. All have the same options.
  Collective *collective = nullptr;

  /// Becomes true when the run is to be saved and ended.
  const std::atomic<bool> *stop = nullptr;
};

/// Trains, and says how it goes. False, with the reason reported, when it could
/// not be done; the last checkpoint is then as it was.
bool train(const TrainOptions &options, Backend &backend, Progress &progress,
           Diagnostics &diags);

} // namespace anec

#endif // ANEC_TRAIN_TRAINER_H
