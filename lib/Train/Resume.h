//===- Resume.h - how a run begins, or goes on ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The initial state of a run: new, or from a checkpoint after checking that
/// model, data and flags fit it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_RESUME_H
#define ANEC_LIB_TRAIN_RESUME_H

#include "TrainingData.h"
#include "anec/Train/Trainer.h"
#include "lib/Train/Checkpoint.h"

namespace anec {

/// The folder of a run. Only one run at a time can write to it.
class RunFolder {
public:
  /// Creates and locks the folder. Returns null, with the reason reported,
  /// when another run has locked it, or when it has checkpoints that would not
  /// be resumed.
  [[nodiscard]] static std::unique_ptr<RunFolder>
  open(const TrainOptions &options, Diagnostics &diags);
  /// Uses the folder that another process of this run has opened.
  static std::unique_ptr<RunFolder> look(const TrainOptions &options);
  ~RunFolder();
  /// Whether there is a checkpoint to resume from.
  bool hasCheckpoint() const;
  /// The folder, if this process has opened it.
  const std::shared_ptr<const Folder> &folder() const { return opened; }

private:
  explicit RunFolder(std::string path) : path(std::move(path)) {}
  std::string path;
  std::shared_ptr<const Folder> opened; ///< and locked
  /// The folder did not exist before.
  bool isNew = false;
};

/// The state of a run that begins.
TrainState newState(const TrainOptions &options);
/// Takes what the checkpoint leaves open from `options`. False, with the
/// reason reported, when it is of another model than `package`, or the flags
/// ask for another run.
[[nodiscard]] bool adoptState(TrainState &state, const TrainOptions &options,
                              const ModelPackage &package,
                              llvm::StringRef folder, Diagnostics &diags);
/// Whether the data of a resumed run is unchanged; reports an error otherwise.
/// `validation` is null when it is a share of `data`.
[[nodiscard]] bool checkData(const TrainState &state, const TrainingData &data,
                             const TrainingData *validation,
                             llvm::StringRef folder, Diagnostics &diags);

/// A digest that identifies the programs of `package`.
std::string digestOf(const ModelPackage &package);

} // namespace anec

#endif // ANEC_LIB_TRAIN_RESUME_H
