//===- TrainedModel.h - a model that can generate text ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_GENERATE_TRAINEDMODEL_H
#define ANEC_LIB_GENERATE_TRAINEDMODEL_H

#include "anec/Runtime/Session.h"
#include "anec/Text/Tokenizer.h"
#include "lib/Train/Checkpoint.h"

namespace anec {

/// Where a model and its weights come from.
struct TrainedModelSource {
  std::string package; ///< a folder with a forward entry
  /// Instead of `package`, which is its name then, if it is not null.
  std::shared_ptr<const ModelPackage> compiled = nullptr;
  /// The folder of a training run, or a checkpoint in it: its weights and its
  /// tokenizer. Empty for none.
  std::string checkpoint;
  /// Without a checkpoint, or the frozen weights of one; empty for the
  /// package's own.
  std::string weights;
  std::string mapping;   ///< of the names in `weights`; see WeightOptions
  std::string tokenizer; ///< as openTokenizer takes it
  /// Without a known tokenizer, a model can be opened for ids alone. Otherwise
  /// the bytes of a text are tokens unless a checkpoint says otherwise.
  bool needsTokenizer = true;
  std::string adapter; ///< a file of adapters; without a checkpoint
};

/// A package with weights, and the tokenizer that the model was trained with.
class TrainedModel {
public:
  /// Reads the checkpoint and the tokenizer. Nothing, with the reason reported,
  /// when they are not there or do not fit.
  [[nodiscard]] static std::optional<TrainedModel>
  read(TrainedModelSource source, Diagnostics &diags);
  /// Opens the package on `backend`. Null, with the reason reported, when it
  /// has no weights or is of another model than the checkpoint. It can have
  /// another number of positions.
  [[nodiscard]] std::unique_ptr<Session>
  open(Backend &backend, const LoadOptions &load, Diagnostics &diags) const;

  /// Null if the source does not need one and none is known.
  const Tokenizer *tokenizer() const { return text.get(); }
  /// Whether the tokenizer is that of bytes because nothing says another.
  bool guessesBytes() const {
    return text && source.checkpoint.empty() && source.tokenizer.empty();
  }

private:
  [[nodiscard]] bool openTokenizerOfModel(Diagnostics &diags);

  TrainedModelSource source;
  std::optional<Checkpoint> trained;
  std::unique_ptr<Tokenizer> text;
};

} // namespace anec

#endif // ANEC_LIB_GENERATE_TRAINEDMODEL_H
