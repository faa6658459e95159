//===- BertNormalizer.cpp - the normalizer of BERT ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Normalizers.h"
#include "Unicode.h"

using namespace anec::hf;
using namespace llvm;

/// The blocks of ideographs.
static bool isIdeograph(uint32_t character) {
  static constexpr std::pair<uint32_t, uint32_t> blocks[] = {
      {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
      {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF},
      {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  for (auto [first, last] : blocks)
    if (character >= first && character <= last)
      return true;
  return false;
}

namespace {
class BertNormalizer : public Normalizer {
public:
  bool cleans, spacesIdeographs, stripsAccents, lowers;

  bool apply(Stretch &stretch, std::string &) const override {
    std::string &text = stretch.text;
    if (cleans)
      mapCharacters(text, clean);
    if (spacesIdeographs)
      mapCharacters(text, [](uint32_t character, std::string &out) {
        bool isSpaced = isIdeograph(character);
        if (isSpaced)
          out += ' ';
        appendCharacter(out, character);
        if (isSpaced)
          out += ' ';
      });
    if (stripsAccents) {
      text = normalForm(text, NormalForm::NFD);
      mapCharacters(text, [](uint32_t character, std::string &out) {
        if (!isNonspacingMark(character))
          appendCharacter(out, character);
      });
    }
    if (lowers)
      text = lowerCase(text);
    return true;
  }

private:
  static void clean(uint32_t character, std::string &out) {
    bool isSpaceHere = isSpace(character);
    bool isLineEnd =
        character == '\t' || character == '\n' || character == '\r';
    if (character == 0 || character == 0xFFFD ||
        (isOther(character) && !isLineEnd))
      return;
    appendCharacter(out, isSpaceHere ? ' ' : character);
  }
};
} // namespace

static std::unique_ptr<Normalizer> readBertNormalizer(Fields &fields) {
  auto bert = std::make_unique<BertNormalizer>();
  bert->cleans = fields.flag("clean_text", true);
  bert->spacesIdeographs = fields.flag("handle_chinese_chars", true);
  bert->lowers = fields.flag("lowercase", true);
  bert->stripsAccents = fields.flag("strip_accents", bert->lowers);
  return bert;
}

constinit const NormalizerRow anec::hf::bertNormalizerRow = {
    "BertNormalizer", readBertNormalizer};
