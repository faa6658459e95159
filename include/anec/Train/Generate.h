//===- Generate.h - a model that writes ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Continues a text, token by token, with a package made `--forward-only`:
///
///   auto generator = anec::Generator::open(*session, *tokenizer, diags);
///   generator->run("Once upon", options, [](StringRef text) { ... }, diags);
///
/// A model has a fixed number of positions. Tokens are placed from the first
/// position on; if there are more tokens than positions, the last ones are
/// used.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_GENERATE_H
#define ANEC_TRAIN_GENERATE_H

#include "anec/Runtime/Session.h"
#include "anec/Train/Sampler.h"
#include "anec/Train/Tokenizer.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>

namespace anec {

struct GenerateOptions {
  unsigned tokens = 100; ///< maximum number of new tokens
  /// Insert the tokenizer's beginning-of-text id before the prompt.
  bool markBeginning = false;
  SamplingOptions sampling;
  /// Becomes true when the text is to end.
  const std::atomic<bool> *stop = nullptr;
};

struct GenerateStats {
  unsigned promptTokens = 0, tokens = 0;
  double seconds = 0; ///< for all but the first of `tokens`
  double firstSeconds = 0;
};

/// Receives the prompt and then the text as it is generated, always complete
/// UTF-8 characters.
using TextSink = llvm::function_ref<void(llvm::StringRef)>;

class Generator {
public:
  /// Generates with the entry called `entry` or, without a name, the only one
  /// of the session's package that returns logits. Returns nothing, with the
  /// reason reported, when there is none, or several. Session and tokenizer
  /// must outlive the generator.
  [[nodiscard]] static std::optional<Generator>
  open(Session &session, const Tokenizer &tokenizer, Diagnostics &diags,
       llvm::StringRef entry = "");

  /// Passes `prompt` and its continuation to `sink` until the number of tokens
  /// is reached or the model ends the text. Returns nothing, with the reason
  /// reported, on failure.
  [[nodiscard]] std::optional<GenerateStats> run(llvm::StringRef prompt,
                                                 const GenerateOptions &options,
                                                 TextSink sink,
                                                 Diagnostics &diags);

  int64_t positions() const { return tokens.size(); }
  int64_t vocabulary() const { return classes; }

private:
  Generator(Session &session, const Tokenizer &tokenizer)
      : session(&session), tokenizer(&tokenizer) {}
  [[nodiscard]] bool usesEntry(const PackagedEntry &chosen, Diagnostics &diags);
  /// Computes `logits` for the token after `text`.
  [[nodiscard]] bool predict(llvm::ArrayRef<int32_t> text, Diagnostics &diags);

  Session *session;
  const Tokenizer *tokenizer;
  std::string entry;
  size_t tokensInput = 0, logitsOutput = 0;
  int64_t classes = 0;
  std::vector<int32_t> tokens; ///< of all positions
  std::vector<std::vector<uint8_t>> inputs, outputs;
  std::vector<float> logits;
};

} // namespace anec

#endif // ANEC_TRAIN_GENERATE_H
