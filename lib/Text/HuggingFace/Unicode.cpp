//===- Unicode.cpp - characters and their properties ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

///
/// \file
/// The only file that includes libutf8proc.
///
//===----------------------------------------------------------------------===//

#include "Unicode.h"
#include "../Utf8.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <utf8proc.h>

using namespace anec;
using namespace llvm;

static bool isAscii(StringRef text) {
  return llvm::all_of(text, [](char byte) { return uint8_t(byte) < 0x80; });
}

//===----------------------------------------------------------------------===//
// UTF-8
//===----------------------------------------------------------------------===//

std::string hf::escapeInvalid(StringRef text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    if (size_t size = legalCharacterSize(text)) {
      escaped += text.take_front(size);
      text = text.drop_front(size);
      continue;
    }
    appendCharacter(escaped, 0xDC00 + uint8_t(text.front()));
    text = text.drop_front();
  }
  return escaped;
}

std::string hf::replaceInvalid(StringRef text) {
  std::string replaced;
  replaced.reserve(text.size());
  while (!text.empty()) {
    uint32_t character = takeCharacter(text);
    appendCharacter(replaced, isInvalidByte(character) ? 0xFFFD : character);
  }
  return replaced;
}

uint32_t hf::takeCharacter(StringRef &text) {
  size_t size = characterSize(text);
  auto byte = [&](size_t at) { return uint32_t(uint8_t(text[at])); };
  uint32_t character = size == 1 ? byte(0)
                                 : byte(0) & (size == 2   ? 0x1F
                                              : size == 3 ? 0xF
                                                          : 7);
  for (size_t at = 1; at < size; ++at)
    character = character << 6 | (byte(at) & 0x3F);
  text = text.drop_front(size);
  return character;
}

uint32_t hf::lastCharacter(StringRef text) {
  size_t at = text.size() - 1;
  while (at > 0 && (uint8_t(text[at]) & 0xC0) == 0x80)
    --at;
  StringRef last = text.drop_front(at);
  return takeCharacter(last);
}

void hf::appendCharacter(std::string &text, uint32_t character) {
  if (character < 0x80) {
    text += char(character);
    return;
  }
  if (character < 0x800) {
    text += char(0xC0 | character >> 6);
  } else {
    if (character < 0x10000) {
      text += char(0xE0 | character >> 12);
    } else {
      text += char(0xF0 | character >> 18);
      text += char(0x80 | (character >> 12 & 0x3F));
    }
    text += char(0x80 | (character >> 6 & 0x3F));
  }
  text += char(0x80 | (character & 0x3F));
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

static utf8proc_category_t rawCategoryOf(uint32_t character) {
  return utf8proc_category_t(
      utf8proc_get_property(utf8proc_int32_t(character))->category);
}

static_assert(UTF8PROC_CATEGORY_CN == int(hf::Category::Cn) &&
              UTF8PROC_CATEGORY_ND == int(hf::Category::Nd) &&
              UTF8PROC_CATEGORY_SO == int(hf::Category::So) &&
              UTF8PROC_CATEGORY_CO == int(hf::Category::Co));
hf::Category hf::categoryOf(uint32_t character) {
  return Category(rawCategoryOf(character));
}

bool hf::isSpace(uint32_t character) {
  return (character >= 0x09 && character <= 0x0D) || character == 0x20 ||
         character == 0x85 || character == 0xA0 || character == 0x1680 ||
         (character >= 0x2000 && character <= 0x200A) || character == 0x2028 ||
         character == 0x2029 || character == 0x202F || character == 0x205F ||
         character == 0x3000;
}

bool hf::isNumeric(uint32_t character) {
  utf8proc_category_t category = rawCategoryOf(character);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool hf::isPunctuation(uint32_t character) {
  if (character < 0x80)
    return character > 0x20 && character < 0x7F &&
           !llvm::isAlnum(char(character));
  utf8proc_category_t category = rawCategoryOf(character);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool hf::isMark(uint32_t character) {
  utf8proc_category_t category = rawCategoryOf(character);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool hf::isNonspacingMark(uint32_t character) {
  return rawCategoryOf(character) == UTF8PROC_CATEGORY_MN;
}

bool hf::isOther(uint32_t character) {
  utf8proc_category_t category = rawCategoryOf(character);
  return (category >= UTF8PROC_CATEGORY_CC && category <= UTF8PROC_CATEGORY_CO);
}

bool hf::isWordCharacter(uint32_t character) {
  utf8proc_category_t category = rawCategoryOf(character);
  if ((category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
      category == UTF8PROC_CATEGORY_PC)
    return true;
  // Joiners, and the symbols that are alphabetic.
  return character == 0x200C || character == 0x200D ||
         (character >= 0x24B6 && character <= 0x24E9) ||
         (character >= 0x1F130 && character <= 0x1F149) ||
         (character >= 0x1F150 && character <= 0x1F169) ||
         (character >= 0x1F170 && character <= 0x1F189);
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

void hf::mapCharacters(std::string &text,
                       function_ref<void(uint32_t, std::string &)> replace) {
  std::string mapped;
  mapped.reserve(text.size());
  for (StringRef rest = text; !rest.empty();)
    replace(takeCharacter(rest), mapped);
  text = std::move(mapped);
}

std::string hf::lowerCase(StringRef text) {
  std::string lower = text.str();
  mapCharacters(lower, [](uint32_t character, std::string &out) {
    // The only character whose lower case is two characters.
    if (character == 0x130)
      out += "i\xCC\x87";
    else
      appendCharacter(out, uint32_t(utf8proc_tolower(int32_t(character))));
  });
  return lower;
}

uint32_t hf::upperOf(uint32_t character) {
  return uint32_t(utf8proc_toupper(int32_t(character)));
}
uint32_t hf::lowerOf(uint32_t character) {
  return uint32_t(utf8proc_tolower(int32_t(character)));
}
uint32_t hf::titleOf(uint32_t character) {
  return uint32_t(utf8proc_totitle(int32_t(character)));
}

void hf::appendFolded(std::string &text, uint32_t character) {
  utf8proc_int32_t parts[8];
  int boundary = 0;
  utf8proc_ssize_t count =
      utf8proc_decompose_char(int32_t(character), parts, std::size(parts),
                              UTF8PROC_CASEFOLD, &boundary);
  if (count <= 0 || size_t(count) > std::size(parts))
    return appendCharacter(text, character);
  for (utf8proc_ssize_t at = 0; at < count; ++at)
    appendCharacter(text, uint32_t(parts[at]));
}

/// Sorts each run of characters with a combining class by that class.
static void orderMarks(MutableArrayRef<utf8proc_int32_t> characters) {
  auto classOf = [](utf8proc_int32_t character) {
    return utf8proc_get_property(character)->combining_class;
  };
  for (size_t begin = 0; begin < characters.size();) {
    size_t end = begin;
    while (end < characters.size() && classOf(characters[end]) != 0)
      ++end;
    if (end - begin > 1)
      llvm::stable_sort(characters.slice(begin, end - begin),
                        [&](utf8proc_int32_t left, utf8proc_int32_t right) {
                          return classOf(left) < classOf(right);
                        });
    begin = end + 1;
  }
}

std::string hf::normalForm(StringRef text, NormalForm form) {
  if (isAscii(text))
    return text.str();
  bool composes = form == NormalForm::NFC || form == NormalForm::NFKC;
  bool isCompatible = form == NormalForm::NFKC || form == NormalForm::NFKD;
  auto decompose = utf8proc_option_t(
      UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
      (isCompatible ? UTF8PROC_COMPAT : utf8proc_option_t(0)));
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(text.size());
  for (StringRef rest = text; !rest.empty();) {
    uint32_t character = takeCharacter(rest);
    if (character < 0xA0 || isInvalidByte(character)) {
      characters.push_back(int32_t(character));
      continue;
    }
    utf8proc_int32_t parts[32]; // the longest decomposition has 18
    int boundary = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char(
        int32_t(character), parts, std::size(parts), decompose, &boundary);
    characters.insert(
        characters.end(), parts,
        parts + std::clamp<utf8proc_ssize_t>(count, 0, std::size(parts)));
  }
  orderMarks(characters);
  if (composes)
    characters.resize(size_t(std::max<utf8proc_ssize_t>(
        0, utf8proc_normalize_utf32(
               characters.data(), utf8proc_ssize_t(characters.size()),
               utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE)))));
  std::string normal;
  normal.reserve(text.size());
  for (utf8proc_int32_t character : characters)
    appendCharacter(normal, uint32_t(character));
  return normal;
}

void hf::forEachGrapheme(StringRef text, function_ref<void(StringRef)> take) {
  StringRef rest = text;
  size_t begin = 0;
  utf8proc_int32_t state = 0;
  uint32_t last = 0;
  while (!rest.empty()) {
    size_t at = text.size() - rest.size();
    uint32_t character = takeCharacter(rest);
    if (at > 0 && utf8proc_grapheme_break_stateful(
                      int32_t(last), int32_t(character), &state)) {
      take(text.slice(begin, at));
      begin = at;
    }
    last = character;
  }
  if (begin < text.size())
    take(text.drop_front(begin));
}
