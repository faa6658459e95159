//===- Checkpoint.h - what training can go on from --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A checkpoint is a folder `step-00000120` in the folder of a training run:
///
///   weights.safetensors     fp32 master weights, by the names of the package
///   optimizer.safetensors   AdamW's moments
///   state.json              everything else, and the digests of both
///
/// It appears whole or not at all, even when the machine stops meanwhile, and
/// is used only when it still is what was written.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_CHECKPOINT_H
#define ANEC_TRAIN_CHECKPOINT_H

#include "anec/Arrays/Safetensors.h"
#include "anec/Runtime/Session.h"
#include "anec/Train/Hyperparameters.h"
#include "anec/Train/LossScale.h"
#include "anec/Train/TokenData.h"

namespace anec {

/// The tokenizer of a run, as a checkpoint remembers it.
struct UsedTokenizer {
  std::string kind = "bytes";
  std::string path, digest; ///< empty for bytes
};

/// What a run is made of besides weights and moments.
struct TrainState {
  uint64_t step = 0;    ///< steps done
  uint64_t updates = 0; ///< those that changed the weights
  DataPosition position;
  LossScale lossScale;
  uint64_t seed = 0;
  Hyperparameters hyper;
  double validationShare = 0;
  std::string numerics = "fp16";

  std::string entry;
  std::vector<std::pair<std::string, std::string>> config;
  std::string packageDigest;
  UsedTokenizer tokenizer;
  uint64_t tokens = 0; ///< of the data
  std::string dataFingerprint;

  std::optional<double> loss;           ///< of the last step
  std::optional<double> validationLoss; ///< where it was measured
  std::optional<double> bestLoss;       ///< the least validation loss so far
  uint64_t bestStep = 0;                ///< of a checkpoint with it
};

/// A checkpoint that was found whole.
struct Checkpoint {
  std::string folder;
  TrainState state;
  std::string weights() const;
  std::string optimizer() const;
};

/// The checkpoints below `folder`, the oldest first.
std::vector<std::string> listCheckpoints(llvm::StringRef folder);

/// Reads the newest checkpoint below `folder`, or the one that `folder` is, and
/// makes sure that none of its files has changed. Nothing, with the reason
/// reported, when there is none or it is damaged.
std::optional<Checkpoint> readCheckpoint(llvm::StringRef folder,
                                         Diagnostics &diags);

/// The same for one that is only to be run: `optimizer.safetensors` is not
/// looked at, and need not be there. `weights()` then has the arrays by name.
std::optional<Checkpoint> loadCheckpointWeights(llvm::StringRef folder,
                                                Diagnostics &diags);

/// What differs between the `config` of the model that was trained and that of
/// `package`, in words; empty when nothing does.
std::string compareModels(const TrainState &state, const ModelPackage &package);

/// What a run writes below its folder, and keeps.
class CheckpointWriter {
public:
  /// `keep`: how many of the newest stay, the best besides; 0 for all.
  CheckpointWriter(std::string folder, unsigned keep)
      : folder(std::move(folder)), keep(keep) {}

  /// Writes a checkpoint; false, with the reason reported and nothing left
  /// behind, when that fails. Those before stay as they are.
  bool write(const TrainState &state, llvm::ArrayRef<NamedFloats> weights,
             llvm::ArrayRef<NamedFloats> moments, Diagnostics &diags);
  /// Removes what an interrupted run left behind.
  void clean();

private:
  void prune(const TrainState &state);
  bool pointToBest(const TrainState &state, Diagnostics &diags);

  std::string folder;
  unsigned keep;
};

/// Copies the moments of `checkpoint` to `moments`; false, with the reason
/// reported, when they are not of these names and sizes.
bool loadMoments(const Checkpoint &checkpoint,
                 llvm::ArrayRef<NamedFloats> moments, Diagnostics &diags);

} // namespace anec

#endif // ANEC_TRAIN_CHECKPOINT_H
