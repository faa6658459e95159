//===- CheckpointJob.h - a checkpoint being written -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Writes the files of a checkpoint on threads of its own while the run goes
/// on: weights and moments at the same time, each with its digest, and then
/// `state.json`. The folder gets its name on the thread of the run.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_CHECKPOINTJOB_H
#define ANEC_LIB_TRAIN_CHECKPOINTJOB_H

#include "ArraySnapshot.h"
#include "CheckpointState.h"
#include "lib/Support/AtomicFolder.h"

namespace anec {

class CheckpointJob {
public:
  /// Starts to write to `made`, or writes it with an executor of one thread.
  /// The elements of `weights` and `moments` may change after aboutToChange.
  CheckpointJob(std::unique_ptr<AtomicFolder> made, const TrainState &state,
                llvm::ArrayRef<NamedFloats> weights,
                llvm::ArrayRef<NamedFloats> moments,
                const SafetensorsMetadata &metadata, Executor &executor);
  /// Waits.
  ~CheckpointJob();

  /// Copies what is not written yet.
  void aboutToChange();
  /// Whether everything is written and synced, or has failed.
  bool isReady() const { return ready; }
  /// Waits until that is so. Returns the error, or 0.
  int wait();
  /// The time that it took, in seconds. Valid after wait.
  double seconds() const { return taken; }

  AtomicFolder &folder() { return *made; }
  const TrainState &state() const { return written; }

private:
  void write();
  int writeArrays(llvm::StringRef name, ArraySnapshot &arrays,
                  CheckpointFile &file) const;
  int writeState(llvm::ArrayRef<CheckpointFile> files) const;

  std::unique_ptr<AtomicFolder> made;
  TrainState written;
  ArraySnapshot weights, moments;
  SafetensorsMetadata metadata;
  Executor &executor;
  int error = 0;
  double taken = 0;
  std::atomic<bool> ready{false};
  std::optional<ServiceThread> thread;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_CHECKPOINTJOB_H
