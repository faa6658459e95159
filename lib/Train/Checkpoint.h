//===- Checkpoint.h - what training can go on from --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A checkpoint is a folder `step-00000120` in the folder of a training run:
///
///   weights.safetensors     fp32 master weights, by the names of the package:
///                           those that are trained
///   optimizer.safetensors   AdamW's moments
///   state.json              everything else, and the digests of both files
///
/// It appears whole or not at all, even when the machine crashes, and is used
/// only when its digests match.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_CHECKPOINT_H
#define ANEC_LIB_TRAIN_CHECKPOINT_H

#include "anec/Runtime/Session.h"
#include "anec/Train/Hyperparameters.h"
#include "anec/Train/LossScale.h"
#include "anec/Train/TokenData.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/Support/AtomicFolder.h"
#include "llvm/ADT/StringSet.h"

namespace anec {

/// The tokenizer of a run, as recorded in a checkpoint.
struct UsedTokenizer {
  /// `none` for data that no tokenizer has made: ids of a vocabulary that is
  /// not that of bytes.
  std::string kind = "bytes";
  std::string path, digest; ///< empty for bytes and `none`
  bool isKnown() const { return kind != "none"; }
};

/// The state of a run other than weights and moments.
struct TrainState : StepState {
  uint64_t step = 0; ///< number of completed steps
  DataPosition position;
  uint64_t seed = 0;
  Hyperparameters hyper;
  double validationShare = 0;
  std::string numerics = "fp16";

  std::string entry;
  uint64_t positions = 0; ///< of its tokens; 0 if it does not take tokens
  std::vector<std::pair<std::string, std::string>> config;
  std::string packageDigest;
  /// The digest of frozen weights, which the checkpoint does not have. Empty
  /// when it has all weights.
  std::string base;
  UsedTokenizer tokenizer;
  uint64_t tokens = 0; ///< number of tokens, or examples, in the data
  std::string dataFingerprint;
  std::string validationFingerprint; ///< of separate data; empty for none

  std::optional<double> loss;           ///< of the last step
  std::optional<double> validationLoss; ///< where it was measured
  std::optional<double> bestLoss;       ///< lowest validation loss so far
  uint64_t bestStep = 0;                ///< step of the checkpoint with it
  uint64_t sinceBest = 0; ///< validations after it, where they are counted
};

/// A checkpoint whose digests match.
struct Checkpoint {
  std::string folder;
  TrainState state;
  std::string weights() const;
  std::string optimizer() const;
};

/// What the folder of a checkpoint holds: nothing else is replaced or removed.
const FolderKind &checkpointFolder();

/// The checkpoints in `folder`, oldest first.
std::vector<std::string> listCheckpoints(llvm::StringRef folder);

/// Whether `folder` is a checkpoint or has some.
bool hasCheckpoint(llvm::StringRef folder);

/// Reads the newest checkpoint in `folder`, or `folder` itself if it is a
/// checkpoint, and checks the digests of its files. Returns nothing, with the
/// reason reported, when there is none or it is damaged.
[[nodiscard]] std::optional<Checkpoint> readCheckpoint(llvm::StringRef folder,
                                                       Diagnostics &diags);

/// The same for inference: `optimizer.safetensors` is not read and need not
/// exist. `weights()` is the path of the arrays.
[[nodiscard]] std::optional<Checkpoint>
loadCheckpointWeights(llvm::StringRef folder, Diagnostics &diags);

/// Whether a package must have as many positions as the trained model.
enum class Positions : uint8_t { SameNumber, AnyNumber };

/// The folder with the tokenizer that `trained` was trained with, and the files
/// beside it: that of the run, or where it has no copy that of the original.
/// Empty for none.
std::string textFolderOf(const Checkpoint &trained);

/// Describes the differences between the `config` of the trained model and that
/// of `package`; empty when there are none. With `AnyNumber`, the entry that is
/// the number of positions, in both, may differ.
std::string compareModels(const TrainState &state, const ModelPackage &package,
                          Positions positions = Positions::SameNumber);

/// The length of the tokens that the entry takes; 0 if it does not take one
/// vector of them.
uint64_t positionsOf(const PackagedEntry &entry);

class CheckpointJob;
class Executor;

/// Writes checkpoints into the folder of a run, and removes old ones. One at a
/// time is written, in the background. All calls are those of one thread.
class CheckpointWriter {
public:
  /// `folder`: that of the run; null in a process that does not write. `keep`:
  /// how many of the newest are kept, in addition to the best; 0 keeps all.
  CheckpointWriter(std::shared_ptr<const Folder> folder, unsigned keep);
  /// Waits for a checkpoint that is being written, which is left out.
  ~CheckpointWriter();

  /// What the files of weights say of the model, and of the frozen weights
  /// that they lack; see digestOfBase.
  void describe(const ModelFacts &facts, llvm::StringRef base);

  /// Begins to write a checkpoint on two service threads of `executor`, or
  /// writes it when that has one thread. No other may be unfinished. The
  /// elements of `weights` and `moments` must live until `finish`, and may
  /// change after `aboutToChange`. On failure returns false, with the reason
  /// reported.
  [[nodiscard]] bool begin(const TrainState &state,
                           llvm::ArrayRef<NamedFloats> weights,
                           llvm::ArrayRef<NamedFloats> moments,
                           Executor &executor, Diagnostics &diags);
  /// Copies what is not written yet of a checkpoint, if one was begun.
  void aboutToChange();
  /// Whether a checkpoint was begun and is not finished.
  bool isWriting() const { return job != nullptr; }
  /// Whether `finish` will not wait for its files.
  bool isReady() const;
  /// Waits for the files of the checkpoint that was begun, gives the folder its
  /// name, and removes old ones. Returns the seconds that the files took. On
  /// failure returns nothing, with the reason reported and no partial
  /// checkpoint left; earlier checkpoints are unchanged.
  [[nodiscard]] std::optional<double> finish(Diagnostics &diags);
  /// Removes temporary folders of runs that were killed.
  void clean(Diagnostics &diags);

private:
  void prune(const TrainState &state, Diagnostics &diags);
  [[nodiscard]] bool pointToBest(const TrainState &state, Diagnostics &diags);

  std::shared_ptr<const Folder> folder;
  unsigned keep;
  llvm::StringSet<> notRemoved; ///< names that were warned of
  SafetensorsMetadata metadata;
  std::unique_ptr<CheckpointJob> job; ///< null when none is being written
};

/// Copies the moments of `checkpoint` to `moments`. Returns false, with the
/// reason reported, when names or sizes differ.
[[nodiscard]] bool loadMoments(const Checkpoint &checkpoint,
                               llvm::ArrayRef<NamedFloats> moments,
                               Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TRAIN_CHECKPOINT_H
