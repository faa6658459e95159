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
/// A model has a fixed number of positions. The tokens stand from the first on;
/// when there are more, the last ones do.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_GENERATE_H
#define ANEC_TRAIN_GENERATE_H

#include "anec/Runtime/Session.h"
#include "anec/Train/Sampler.h"
#include "anec/Train/Tokenizer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

struct GenerateOptions {
  unsigned tokens = 100; ///< new ones, at most
  /// Puts the tokenizer's id for the beginning of a text before the prompt.
  bool markBeginning = false;
  SamplingOptions sampling;
};

struct GenerateStats {
  unsigned promptTokens = 0, tokens = 0;
  double seconds = 0; ///< for all but the first of `tokens`
  double firstSeconds = 0;
};

/// Gets text as it comes out: whole characters of UTF-8, the prompt first.
using TextSink = llvm::function_ref<void(llvm::StringRef)>;

class Generator {
public:
  /// Nothing, with the reason reported, when no entry of the session's package
  /// gives logits. Both have to outlive the generator.
  static std::optional<Generator>
  open(Session &session, const Tokenizer &tokenizer, Diagnostics &diags);

  /// Writes `prompt` and what follows it, until there are enough tokens or the
  /// model ends the text. Nothing, with the reason reported, when it fails.
  std::optional<GenerateStats> run(llvm::StringRef prompt,
                                   const GenerateOptions &options,
                                   TextSink sink, Diagnostics &diags);

  int64_t positions() const { return tokens.size(); }
  int64_t vocabulary() const { return classes; }

private:
  Generator(Session &session, const Tokenizer &tokenizer)
      : session(&session), tokenizer(&tokenizer) {}
  bool usesEntry(llvm::StringRef name, Diagnostics &diags);
  /// Fills `logits` with those for what follows `text`.
  bool predict(llvm::ArrayRef<int32_t> text, Diagnostics &diags);

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
