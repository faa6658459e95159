//===- Tokenizer.h - text as token ids, and back ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Tokenizers of language models: the bytes of the text, a SentencePiece model,
/// or llama2.c's `tokenizer.bin`.
///
///   auto tokenizer = anec::openTokenizer("tokenizer.model", diags);
///   std::vector<int32_t> ids = tokenizer->encode("Once upon a time");
///   anec::TextStream text(*tokenizer);
///   for (int32_t id : ids) out << text.next(id);
///   out << text.finish();
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_TOKENIZER_H
#define ANEC_TRAIN_TOKENIZER_H

#include "anec/Support/Diagnostics.h"
#include <optional>

namespace anec {

enum class TokenizerKind : uint8_t { Bytes, SentencePiece, Llama2c };
/// `bytes`, `sentencepiece`, `llama2c`.
llvm::StringRef spelling(TokenizerKind kind);

class Tokenizer {
public:
  virtual ~Tokenizer();

  TokenizerKind kind() const { return tokenizerKind; }
  /// The file; empty for bytes.
  llvm::StringRef path() const { return filePath; }
  /// SHA-256 of the file; empty for bytes.
  llvm::StringRef digest() const { return fileDigest; }

  /// The number of ids, which start at 0.
  virtual unsigned vocabulary() const = 0;
  /// The ids that mark the beginning and the end of a text, if the vocabulary
  /// has them.
  virtual std::optional<int32_t> beginning() const { return std::nullopt; }
  virtual std::optional<int32_t> end() const { return std::nullopt; }

  /// The ids of `text`, without beginning and end markers. Texts of megabytes
  /// are encoded in parts that end at line ends.
  std::vector<int32_t> encode(llvm::StringRef text) const;
  /// The text of `ids` as a whole text of its own. Beginning and end markers
  /// decode to nothing.
  std::string decode(llvm::ArrayRef<int32_t> ids) const;

  /// Appends the bytes of `id`, which must be in the vocabulary, to `bytes`.
  /// `atStart`: no text precedes it, so the space that `encode` inserts is
  /// removed. Returns whether the next id is still at the start.
  virtual bool appendBytes(int32_t id, bool atStart,
                           std::string &bytes) const = 0;

protected:
  Tokenizer(TokenizerKind kind, std::string path, std::string digest)
      : tokenizerKind(kind), filePath(std::move(path)),
        fileDigest(std::move(digest)) {}

  /// Appends the ids of a part of a text; `isFirst`: it is the first part.
  virtual void encodePart(llvm::StringRef part, bool isFirst,
                          std::vector<int32_t> &ids) const = 0;

private:
  TokenizerKind tokenizerKind;
  std::string filePath, fileDigest;
};

/// Opens the tokenizer at `path`: `.model` is SentencePiece's format, `.bin`
/// llama2.c's; any other file is recognised by content, and an empty path means
/// bytes. Returns null, with the reason reported, when it cannot be read.
[[nodiscard]] std::unique_ptr<Tokenizer> openTokenizer(llvm::StringRef path,
                                                       Diagnostics &diags);

/// Whether this build reads SentencePiece models.
bool hasSentencePiece();

/// Decodes ids one at a time into complete characters of valid UTF-8. Each
/// invalid byte becomes U+FFFD.
class TextStream {
public:
  explicit TextStream(const Tokenizer &tokenizer) : tokenizer(tokenizer) {}

  /// The characters that are complete after `id`; may be empty.
  std::string next(int32_t id);
  /// The remaining text when no more ids follow.
  std::string finish();

private:
  std::string takeCharacters(bool isEnd);

  const Tokenizer &tokenizer;
  bool atStart = true;
  std::string pending; ///< bytes of an incomplete character
};

} // namespace anec

#endif // ANEC_TRAIN_TOKENIZER_H
