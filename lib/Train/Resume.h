//===- Resume.h - how a run begins, or goes on ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The state that a run begins with: a new one, or a checkpoint's with what its
/// model, its data and its flags have to say to that.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_RESUME_H
#define ANEC_LIB_TRAIN_RESUME_H

#include "LanguageModel.h"
#include "anec/Train/Checkpoint.h"
#include "anec/Train/Trainer.h"

namespace anec {

/// The folder of a run, which one run at a time may write to.
class RunFolder {
public:
  /// Creates and locks the folder. False, with the reason reported, when
  /// another run has it, or when its checkpoints are not to be resumed.
  static std::unique_ptr<RunFolder> open(const TrainOptions &options,
                                         Diagnostics &diags);
  /// The folder that another process of this run has opened.
  static std::unique_ptr<RunFolder> look(const TrainOptions &options);
  ~RunFolder();
  /// Whether there is something to resume.
  bool hasCheckpoint() const;
  std::string file(llvm::StringRef name) const;

private:
  explicit RunFolder(std::string path) : path(std::move(path)) {}
  std::string path;
  int descriptor = -1;
  /// It was not there before.
  bool isNew = false;
};

/// The state of a run that begins.
TrainState newState(const TrainOptions &options);
/// Takes what the checkpoint leaves open from `options`. False, with the
/// reason reported, when it is of another model than `package`, or the flags
/// ask for another run.
bool adoptState(TrainState &state, const TrainOptions &options,
                const ModelPackage &package, llvm::StringRef folder,
                Diagnostics &diags);
/// Whether the data of a resumed run is what it was; reported when it is not.
bool checkData(const TrainState &state, const TokenData &data,
               const UsedTokenizer &tokenizer, llvm::StringRef folder,
               Diagnostics &diags);

/// `fp32`, `fp16`, `m1`, ...
llvm::StringRef spelling(Numerics numerics);
std::optional<Numerics> parseNumerics(llvm::StringRef spelling);
/// What tells the programs of `package` from others.
std::string digestOf(const ModelPackage &package);

} // namespace anec

#endif // ANEC_LIB_TRAIN_RESUME_H
