//===- PreTokenizers.h - what splits a text into words ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_PRETOKENIZERS_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_PRETOKENIZERS_H

#include "Normalizers.h"

namespace anec::hf {

/// A stretch, and the parts of its text that are words, in order.
struct Words {
  struct Range {
    size_t begin, end;
  };
  Stretch stretch;
  std::vector<Range> ranges;

  explicit Words(Stretch all) : stretch(std::move(all)) {
    if (!stretch.text.empty())
      ranges.push_back({0, stretch.text.size()});
  }
  llvm::StringRef textOf(Range range) const {
    return llvm::StringRef(stretch.text).slice(range.begin, range.end);
  }
};

class PreTokenizer {
public:
  virtual ~PreTokenizer();
  /// Splits words, and may change their text. Returns false, with `error` set,
  /// when a limit is exceeded.
  [[nodiscard]] virtual bool apply(Words &words, std::string &error) const = 0;
};

struct PreTokenizerRow {
  llvm::StringLiteral type;
  std::unique_ptr<PreTokenizer> (*read)(Fields &fields);
};
// Each in a file of its own.
extern const PreTokenizerRow byteLevelRow, metaspaceRow, scriptsRow;

/// The pre-tokenizer that `fields` describes; null after an error.
std::unique_ptr<PreTokenizer> readPreTokenizer(Fields &fields);

/// What becomes of matches and what is between them.
enum class Split : uint8_t {
  Removed,            ///< a match is no word
  Isolated,           ///< a match is a word
  MergedWithPrevious, ///< a match ends the word before it
  MergedWithNext,     ///< a match begins the word after it
  Contiguous          ///< adjacent matches are one word
};
/// Calls its argument with the begin and end of each match in `text`.
using Matcher = llvm::function_ref<bool(
    llvm::StringRef text, llvm::function_ref<void(size_t, size_t)> take)>;
/// Splits each word at the matches of `match`, or with `inverts` at what is
/// between them. Returns false when `match` does.
[[nodiscard]] bool splitWords(Words &words, Matcher match, Split split,
                              bool inverts = false);
/// Splits at each character that `matches` accepts.
void splitAtCharacters(Words &words, llvm::function_ref<bool(uint32_t)> matches,
                       Split split);

/// The character that `byte` is in byte-level vocabularies.
uint32_t byteCharacter(uint8_t byte);
/// The byte that `character` stands for there, if it does.
std::optional<uint8_t> byteOfCharacter(uint32_t character);

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_PRETOKENIZERS_H
