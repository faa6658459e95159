//===- ByteLevel.cpp - words as bytes -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Vocabularies of bytes spell each byte as a character: printable ones of
/// Latin-1 as themselves, and the others by the characters from U+0100 on.
///
//===----------------------------------------------------------------------===//

#include "PreTokenizers.h"
#include "Regex.h"
#include "Unicode.h"
#include <array>

using namespace anec::hf;
using namespace llvm;

/// Where GPT-2 splits.
static constexpr StringLiteral gpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
    "\\s+(?!\\S)|\\s+";

static constexpr bool isPrintable(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
         byte >= 0xAE;
}

static constexpr std::array<uint16_t, 256> characters = [] {
  std::array<uint16_t, 256> result = {};
  uint16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    result[byte] = isPrintable(byte) ? uint16_t(byte) : next++;
  return result;
}();

static constexpr std::array<int16_t, 0x200> bytesOfCharacters = [] {
  std::array<int16_t, 0x200> result = {};
  for (int16_t &byte : result)
    byte = -1;
  for (unsigned byte = 0; byte < 256; ++byte)
    result[characters[byte]] = int16_t(byte);
  return result;
}();

uint32_t anec::hf::byteCharacter(uint8_t byte) { return characters[byte]; }

std::optional<uint8_t> anec::hf::byteOfCharacter(uint32_t character) {
  if (character >= bytesOfCharacters.size() || bytesOfCharacters[character] < 0)
    return std::nullopt;
  return uint8_t(bytesOfCharacters[character]);
}

/// Appends the bytes of `text` as characters.
static void appendBytes(StringRef text, std::string &out) {
  while (!text.empty()) {
    size_t size = characterSize(text);
    StringRef bytes = text.take_front(size);
    uint32_t character = takeCharacter(text);
    if (isInvalidByte(character)) {
      appendCharacter(out, characters[character & 0xFF]);
      continue;
    }
    for (char byte : bytes)
      appendCharacter(out, characters[uint8_t(byte)]);
  }
}

namespace {
class ByteLevelPreTokenizer : public PreTokenizer {
public:
  ByteLevelPreTokenizer(std::optional<Regex> pattern, bool addsSpace)
      : pattern(std::move(pattern)), addsSpace(addsSpace) {}

  bool apply(Words &words, std::string &error) const override {
    if (addsSpace)
      addSpaces(words);
    if (pattern &&
        !splitWords(
            words,
            [&](StringRef text, function_ref<void(size_t, size_t)> take) {
              return pattern->forEachMatch(text, take, error);
            },
            Split::Isolated))
      return false;
    std::string text;
    text.reserve(words.stretch.text.size() * 5 / 4);
    for (Words::Range &range : words.ranges) {
      size_t begin = text.size();
      appendBytes(words.textOf(range), text);
      range = {begin, text.size()};
    }
    words.stretch.text = std::move(text);
    return true;
  }

private:
  static void addSpaces(Words &words) {
    std::string text;
    for (Words::Range &range : words.ranges) {
      StringRef word = words.textOf(range);
      bool continues = words.stretch.continues && range.begin == 0;
      size_t begin = text.size();
      if (!word.starts_with(" ") && !continues)
        text += ' ';
      text += word;
      range = {begin, text.size()};
    }
    words.stretch.text = std::move(text);
  }

  std::optional<Regex> pattern;
  bool addsSpace;
};
} // namespace

static std::unique_ptr<PreTokenizer> readByteLevelPreTokenizer(Fields &fields) {
  bool addsSpace = fields.flag("add_prefix_space", true);
  bool splits = fields.flag("use_regex", true);
  fields.ignore("trim_offsets"); // of no effect on ids
  std::optional<Regex> pattern;
  std::string reason;
  if (splits) {
    pattern = Regex::compile(gpt2Pattern, reason);
    if (!pattern)
      fields.error().unknownPattern(fields.path(), reason);
  }
  return std::make_unique<ByteLevelPreTokenizer>(std::move(pattern), addsSpace);
}

constinit const PreTokenizerRow anec::hf::byteLevelRow = {
    "ByteLevel", readByteLevelPreTokenizer};

//===----------------------------------------------------------------------===//
// As a normalizer
//===----------------------------------------------------------------------===//

namespace {
class ByteLevelNormalizer : public Normalizer {
public:
  bool apply(Stretch &stretch, std::string &) const override {
    std::string text;
    appendBytes(stretch.text, text);
    stretch.text = std::move(text);
    return true;
  }
};
} // namespace

static std::unique_ptr<Normalizer> readByteLevelNormalizer(Fields &) {
  return std::make_unique<ByteLevelNormalizer>();
}

constinit const NormalizerRow anec::hf::byteLevelNormalizerRow = {
    "ByteLevel", readByteLevelNormalizer};
