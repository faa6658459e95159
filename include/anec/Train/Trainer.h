//===- Trainer.h - the training loop ----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Trains the model of a package on text, or on arrays for its inputs: data,
/// optimizer, checkpoints, log.
///
///   anec::TrainOptions options;
///   options.package = "llama.anepkg";
///   options.data = {"text.txt"};
///   options.checkpoint = "run";
///   options.steps = 500;
///   if (!anec::train(options, *backend, progress, diags))
///     diags.print(llvm::errs());
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

/// Says how to continue a run in another process.
struct TrainRestart {
  bool isNeeded = false;
  uint64_t step = 0; ///< of the checkpoint to resume from
  /// The validation of this step is left to the next process.
  bool validates = false;
};

struct TrainOptions {
  std::string package;
  /// The training step to run; empty for the one of the checkpoint, or the
  /// package's only one.
  std::string entry;
  /// Files and folders: text, .bin files of token ids, or .npy and
  /// .safetensors files of arrays that are called as inputs are.
  std::vector<std::string> data;
  std::vector<std::string> inputs; ///< `NAME=FILE`: arrays for inputs
  std::string tokenizer;           ///< a file; empty: tokens are bytes
  std::string checkpoint;          ///< the run's folder
  uint64_t steps = 0;              ///< total, including those before a resume
  bool resume = false;
  /// With `resume`: a folder without a run begins one, with `weights`, which a
  /// checkpoint takes the place of.
  bool beginsIfNew = false;

  LoadOptions load; ///< except numerics
  /// Takes less memory and more time; see SessionOptions.
  bool recompute = false;
  /// Unset: the checkpoint's when resuming, otherwise fp16.
  std::optional<Numerics> numerics;
  /// The initial weights. Without a source: those in the package, or drawn from
  /// `seed`. A checkpoint has its own: an error then.
  WeightOptions weights;
  /// Seed of the order of the data, of random masks and of initial weights.
  /// Unset: the checkpoint's when resuming, otherwise 0.
  std::optional<uint64_t> seed;
  /// Values that override the defaults or the checkpoint's.
  GivenHyperparameters hyper;
  /// Share of the data used for validation. Unset: the checkpoint's when
  /// resuming, otherwise 0.05.
  std::optional<double> validationShare;
  /// Files and folders of data for validation, instead of a share.
  std::vector<std::string> validationData;
  /// Ends the run after that many validations in a row without a lower loss
  /// than the best; each better one is saved. 0: never.
  uint64_t patience = 0;

  uint64_t saveEvery = 100; ///< 0: only at the end
  uint64_t validateEvery = 100;
  uint64_t validationWindows = 16; ///< runs per validation; 0: all
  unsigned keep = 3;               ///< how many checkpoints to keep; 0: all
  std::string profile;             ///< file for a timeline of the first steps
  uint64_t profiledSteps = 5;

  /// Filled in when the backend can load no more programs in this process: the
  /// run is saved, and another process can resume it. If null, that is an
  /// error.
  TrainRestart *restart = nullptr;
  /// Validate before the first step, on behalf of the previous process.
  bool validateFirst = false;

  /// The processes that share each step's runs; null for a single process.
  /// All processes must have the same options.
  Collective *collective = nullptr;

  /// When it becomes true, the run is saved and ended.
  const std::atomic<bool> *stop = nullptr;
};

/// Trains a model and reports to `progress`. Returns false, with the reason
/// reported, on failure; the last checkpoint is then unchanged.
[[nodiscard]] bool train(const TrainOptions &options, Backend &backend,
                         Progress &progress, Diagnostics &diags);

} // namespace anec

#endif // ANEC_TRAIN_TRAINER_H
