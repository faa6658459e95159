//===- Continuation.h - a text that is being written ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_GENERATE_CONTINUATION_H
#define ANEC_LIB_TRAIN_GENERATE_CONTINUATION_H

#include "anec/Generate/Generate.h"
#include "lib/Generate/StopTexts.h"
#include <chrono>

namespace anec {

/// What all texts of a run have in common.
struct ContinuationSettings {
  const TextModel &model;
  const Tokenizer *tokenizer; ///< null without one
  size_t vocabulary;          ///< ids that can be generated
  std::vector<int32_t> ends;  ///< ids that end a text
  const GenerateOptions &options;
  GenerateListener &listener;
};

/// A prompt and its new tokens, in a sequence of the model.
class Continuation {
public:
  /// `number`: of the prompt; `sequence`: of the model, of which `window` knows
  /// what it has.
  Continuation(const ContinuationSettings &settings, const Prompt &prompt,
               size_t number, unsigned sequence, SlidingWindow &window);

  size_t number() const { return ownNumber; }
  bool isFinished() const { return isDone; }
  /// The result, once it is finished.
  const GeneratedText &result() const { return made; }

  /// Asks the draft for guesses, and returns what the model has to read next;
  /// nothing, with the reason reported, on failure. Valid until the next call.
  [[nodiscard]] std::optional<TokenFeed> prepare(Diagnostics &diags);
  /// Takes the logits that the model gave for it. Returns false, with the
  /// reason reported, when they are not finite.
  [[nodiscard]] bool take(Diagnostics &diags);
  /// Ends the text before the next token.
  void interrupt() { finish(Finish::Interrupted); }

private:
  void add(int32_t id, llvm::ArrayRef<float> row);
  void show(llvm::StringRef text);
  void finish(Finish reason);

  const ContinuationSettings &settings;
  size_t ownNumber;
  unsigned sequence;
  SlidingWindow &window;
  size_t keep; ///< first tokens that a window which slides keeps
  Sampler sampler;
  std::optional<TextStream> stream; ///< without a tokenizer, nothing
  StopTexts stops;
  std::vector<int32_t> text; ///< the prompt and the new tokens
  std::vector<DraftToken> drafts;
  std::vector<float> logits;
  SlidingWindow::Step step;
  GeneratedText made;
  bool isDone = false;
  std::chrono::steady_clock::time_point begin, firstToken;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_GENERATE_CONTINUATION_H
