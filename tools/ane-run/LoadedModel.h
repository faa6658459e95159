//===- LoadedModel.h - a language model to write with -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_LOADEDMODEL_H
#define ANEC_TOOLS_ANE_RUN_LOADEDMODEL_H

#include "CacheFlags.h"
#include "anec/Generate/TextModel.h"
#include "anec/Runtime/Session.h"
#include "lib/Generate/TrainedModel.h"

namespace anec {

/// Reports that there is no model at `path`. If `path` is the id of a model of
/// a hub, or a folder of a hub's cache, a note says what to use instead.
void reportNoModel(llvm::StringRef path, Diagnostics &diags);

/// A language model, with its tokenizer.
struct LoadedModel {
  std::optional<TrainedModel> trained;
  std::unique_ptr<Session> session; ///< null for a program with states
  std::unique_ptr<TextModel> text;

  /// Loads the model of `source`, which is compiled first if it is a folder or
  /// a GGUF file. `function` is empty for the only one. Returns false, with
  /// the reason reported, on failure.
  [[nodiscard]] bool load(TrainedModelSource source, llvm::StringRef function,
                          const CacheFlags &cache, bool isQuiet,
                          Backend &backend, LoadOptions options,
                          Diagnostics &diags);

  /// Null if there is none.
  const Tokenizer *tokenizer() const { return trained->tokenizer(); }
  /// Whether bytes are the tokenizer of a model with more ids because nothing
  /// named another.
  bool guessesTooFew() const;
  /// Returns false, with the reason reported, when that is so. `path` is what
  /// the user called the model.
  [[nodiscard]] bool hasFittingTokenizer(llvm::StringRef path,
                                         Diagnostics &diags) const;
  /// Whether the tokenizer of the imported model at `path` begins texts with a
  /// beginning-of-text id.
  bool marksBeginning(llvm::StringRef path) const;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_LOADEDMODEL_H
