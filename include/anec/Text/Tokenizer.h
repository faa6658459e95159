//===- Tokenizer.h - text as token ids, and back ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Tokenizers of language models: the bytes of the text, a SentencePiece model,
/// llama2.c's `tokenizer.bin`, or Hugging Face's `tokenizer.json`.
///
///   auto tokenizer = anec::openTokenizer("tokenizer.model", diags);
///   if (!tokenizer)
///     return diags.print(llvm::errs());
///   auto ids = tokenizer->encode("Once upon a time", diags);
///   if (!ids)
///     return diags.print(llvm::errs());
///   anec::TextStream text(*tokenizer);
///   for (int32_t id : *ids) out << text.next(id);
///   out << text.finish();
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEXT_TOKENIZER_H
#define ANEC_TEXT_TOKENIZER_H

#include "anec/Support/Diagnostics.h"
#include "anec/Train/TokenizerKind.h"
#include <optional>

namespace anec {

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
  /// All ids that end a text: that of `end`, and those that
  /// generation_config.json beside a tokenizer.json names.
  virtual std::vector<int32_t> ends() const;

  /// The ids of `text`, without beginning and end markers. Texts of megabytes
  /// are encoded in parts that end at line ends. Returns nothing, with the
  /// reason reported, when the tokenizer has no ids for the text.
  [[nodiscard]] std::optional<std::vector<int32_t>>
  encode(llvm::StringRef text, Diagnostics &diags) const;
  /// `ids`, those of a whole text, between the markers that models which use
  /// the tokenizer are given texts in.
  virtual std::vector<int32_t> withMarkers(std::vector<int32_t> ids) const;
  /// The text of `ids`, which must be in the vocabulary, as a whole text of its
  /// own. Markers decode to nothing, or to their text with `showMarkers`.
  virtual std::string decode(llvm::ArrayRef<int32_t> ids,
                             bool showMarkers = false) const;
  /// Whether the text of an id depends on those that follow, so that only
  /// `decode` gives it.
  virtual bool decodesWhole() const { return false; }

  /// Whether each byte that is not valid UTF-8 is shown as a U+FFFD. Otherwise
  /// one U+FFFD stands for all bytes that begin an incomplete character.
  virtual bool showsEachByte() const { return true; }

  /// The text of `id` when it is a marker with one, such as `<|im_end|>`.
  virtual std::optional<std::string> markerText(int32_t id) const;
  /// The id of the marker `text`, which `encode` finds in texts.
  virtual std::optional<int32_t> markerId(llvm::StringRef text) const;

  /// Appends the bytes of `id`, which must be in the vocabulary, to `bytes`.
  /// `atStart`: no text precedes it, so the space that `encode` inserts is
  /// removed. Returns whether the next id is still at the start.
  virtual bool appendBytes(int32_t id, bool atStart,
                           std::string &bytes) const = 0;

protected:
  Tokenizer(TokenizerKind kind, std::string path, std::string digest)
      : tokenizerKind(kind), filePath(std::move(path)),
        fileDigest(std::move(digest)) {}

  /// The size of the part of `text` that is encoded next.
  virtual size_t partSize(llvm::StringRef text) const;
  /// Appends the ids of a part of a text; `isFirst`: it is the first part.
  /// Returns false, with `error` set, when it has none.
  [[nodiscard]] virtual bool encodePart(llvm::StringRef part, bool isFirst,
                                        std::vector<int32_t> &ids,
                                        std::string &error) const = 0;

private:
  TokenizerKind tokenizerKind;
  std::string filePath, fileDigest;
};

/// Opens the tokenizer at `path`: `.model` is SentencePiece's format, `.bin`
/// llama2.c's, `.json` and a folder with `tokenizer.json` Hugging Face's; any
/// other file is recognised by content, and an empty path means bytes. Returns
/// null, with the reason reported, when it cannot be read.
[[nodiscard]] std::unique_ptr<Tokenizer> openTokenizer(llvm::StringRef path,
                                                       Diagnostics &diags);

/// Whether this build reads Hugging Face's tokenizers.
bool hasHuggingFace();

/// Decodes ids one at a time into complete characters of valid UTF-8. Each
/// invalid byte becomes U+FFFD. Of a tokenizer that decodes whole texts, all
/// text comes at the end.
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
  std::string pending;       ///< bytes of an incomplete character
  std::vector<int32_t> held; ///< all ids, when they are decoded at the end
};

} // namespace anec

#endif // ANEC_TEXT_TOKENIZER_H
