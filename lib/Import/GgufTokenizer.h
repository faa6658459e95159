//===- GgufTokenizer.h - tokenizers of GGUF files ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A GGUF file has the tokens, merges or scores of its model's tokenizer, the
/// name of a rule that splits texts into words, and the template of chats. They
/// are written as the tokenizer.json that Hugging Face's libraries would have.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_GGUFTOKENIZER_H
#define ANEC_LIB_IMPORT_GGUFTOKENIZER_H

#include "lib/Arrays/Gguf.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// A tokenizer, as views of the metadata.
struct GgufTokenizer {
  struct Token {
    llvm::StringRef text;
    float score = 0;
    bool isNormal = true;   ///< made by merges
    bool isAdded = false;   ///< found in texts before they are split
    bool isSpecial = false; ///< added, and no text itself
    bool isUnused = false;
  };
  bool hasScores =
      false; ///< SentencePiece's byte pairs; bytes by merges if not
  std::vector<Token> tokens; ///< by id
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> merges;
  const struct SplitRule *rule = nullptr; ///< null with scores
  std::optional<int32_t> beginning, end, unknown;
  std::vector<int32_t> otherEnds;
  bool addsBeginning = false, addsEnd = false, addsSpace = false;
  std::optional<llvm::StringRef> chatTemplate;

  /// Reads the metadata. Nothing, with the reason in `wrong`, when there is no
  /// tokenizer, or one that cannot be written.
  static std::optional<GgufTokenizer> read(const GgufFile &file,
                                           std::string &wrong);
};

/// How texts are split into words before merges.
struct SplitRule {
  llvm::StringLiteral name;  ///< `tokenizer.ggml.pre`
  llvm::StringLiteral regex; ///< empty for GPT-2's
  bool splitsDigits;         ///< each is a word
  bool normalizes;           ///< to NFC
  bool prefersWholeWords;    ///< a word that is a token is not merged
  bool addsBeginning;        ///< unless the file says otherwise
};

void writeTokenizer(const GgufTokenizer &tokenizer, llvm::raw_ostream &out);
/// tokenizer_config.json: markers and the template of chats.
void writeTokenizerConfig(const GgufTokenizer &tokenizer,
                          llvm::raw_ostream &out);
/// generation_config.json: what ends a text.
void writeGenerationConfig(const GgufTokenizer &tokenizer,
                           llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_IMPORT_GGUFTOKENIZER_H
