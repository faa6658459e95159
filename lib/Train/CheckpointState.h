//===- CheckpointState.h - state.json ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The state of a run as JSON. Its last field is the digest of all others, so
/// that any change is detected.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_CHECKPOINTSTATE_H
#define ANEC_LIB_TRAIN_CHECKPOINTSTATE_H

#include "lib/Train/Checkpoint.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// The format version that is written, and the only one that is read.
constexpr int64_t checkpointFormat = 1;

/// A file of a checkpoint.
struct CheckpointFile {
  std::string name;
  uint64_t bytes = 0;
  std::string digest;
};

/// The step of the checkpoint called `name`; nothing for other names.
std::optional<uint64_t> checkpointStep(llvm::StringRef name);

/// The path of `name` in `folder`.
std::string fileIn(llvm::StringRef folder, llvm::StringRef name);

llvm::json::Value stateToJson(const TrainState &state,
                              llvm::ArrayRef<CheckpointFile> files);
/// Returns false, with the reason in `wrong`, on failure.
bool stateFromJson(llvm::StringRef text, TrainState &state,
                   std::vector<CheckpointFile> &files, std::string &wrong);

} // namespace anec

#endif // ANEC_LIB_TRAIN_CHECKPOINTSTATE_H
