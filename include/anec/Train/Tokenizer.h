//===- Tokenizer.h - text as token ids, and back ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What a language model reads and writes. A tokenizer is the bytes of the text
/// themselves, a SentencePiece model, or llama2.c's `tokenizer.bin`.
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

  /// How many ids there are; they count from 0.
  virtual unsigned vocabulary() const = 0;
  /// The id that stands before a text, and the one after it, where the
  /// vocabulary has them.
  virtual std::optional<int32_t> beginning() const { return std::nullopt; }
  virtual std::optional<int32_t> end() const { return std::nullopt; }

  /// The ids of `text`, without those of its beginning and end. Texts of
  /// megabytes are taken in parts that end at a line's.
  std::vector<int32_t> encode(llvm::StringRef text) const;
  /// The bytes of `ids` behind each other, as a text by itself. What ids of a
  /// beginning or end stand for is nothing.
  std::string decode(llvm::ArrayRef<int32_t> ids) const;

  /// Appends the bytes of `id`, of this vocabulary, to `bytes`. `atStart`: no
  /// text stands before it, and the space that `encode` puts there is dropped.
  /// Returns whether the next id is still at the start.
  virtual bool appendBytes(int32_t id, bool atStart,
                           std::string &bytes) const = 0;

protected:
  Tokenizer(TokenizerKind kind, std::string path, std::string digest)
      : tokenizerKind(kind), filePath(std::move(path)),
        fileDigest(std::move(digest)) {}

  /// Appends the ids of a part of a text; `isFirst`: of its first.
  virtual void encodePart(llvm::StringRef part, bool isFirst,
                          std::vector<int32_t> &ids) const = 0;

private:
  TokenizerKind tokenizerKind;
  std::string filePath, fileDigest;
};

/// Opens the tokenizer at `path`: `.model` is SentencePiece's, `.bin`
/// llama2.c's, any other name is decided by content, and none at all means
/// bytes. Null, with the reason reported, when it cannot be read.
std::unique_ptr<Tokenizer> openTokenizer(llvm::StringRef path,
                                         Diagnostics &diags);

/// Whether this build reads SentencePiece models.
bool hasSentencePiece();

/// Text as its ids arrive: always whole characters of valid UTF-8. Bytes that
/// belong to none become U+FFFD, one for each.
class TextStream {
public:
  explicit TextStream(const Tokenizer &tokenizer) : tokenizer(tokenizer) {}

  /// What can be shown once `id` is there; may be empty.
  std::string next(int32_t id);
  /// What is left when no id follows.
  std::string finish();

private:
  std::string takeCharacters(bool isEnd);

  const Tokenizer &tokenizer;
  bool atStart = true;
  std::string pending; ///< bytes not shown yet
};

} // namespace anec

#endif // ANEC_TRAIN_TOKENIZER_H
