//===- Characters.cpp - texts as Python has them --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "CharacterTables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec::jinja;
using namespace llvm;
using anec::hf::Category;
namespace jinja = anec::jinja;

std::u32string anec::jinja::decoded(StringRef text) {
  std::u32string characters;
  characters.reserve(text.size());
  while (!text.empty())
    characters += char32_t(takeCharacter(text));
  return characters;
}

std::string anec::jinja::encoded(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (char32_t character : text)
    appendCharacter(bytes, character);
  return bytes;
}

size_t anec::jinja::countCharacters(StringRef text) {
  size_t count = 0;
  for (char byte : text)
    count += (uint8_t(byte) & 0xC0) != 0x80;
  return count;
}

size_t anec::jinja::offsetOf(StringRef text, size_t character) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if ((uint8_t(text[at]) & 0xC0) != 0x80 && character-- == 0)
      break;
  return at;
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

static bool isIn(ArrayRef<Range> ranges, uint32_t character) {
  const Range *range = partition_point(
      ranges, [&](const Range &each) { return each.last < character; });
  return range != ranges.end() && range->first <= character;
}

static bool isLetter(uint32_t character) {
  Category category = hf::categoryOf(character);
  return category >= Category::Lu && category <= Category::Lo;
}
static bool isDecimal(uint32_t character) {
  return hf::categoryOf(character) == Category::Nd;
}
static bool isDigitOf(uint32_t character) {
  return isDecimal(character) || isIn(otherDigits(), character);
}
static bool isNumber(uint32_t character) {
  return hf::isNumeric(character) || isIn(otherNumbers(), character);
}
static bool isLower(uint32_t character) {
  return hf::categoryOf(character) == Category::Ll ||
         isIn(otherLower(), character);
}
static bool isUpper(uint32_t character) {
  return hf::categoryOf(character) == Category::Lu ||
         isIn(otherUpper(), character);
}
static bool isTitle(uint32_t character) {
  return hf::categoryOf(character) == Category::Lt;
}
static bool isCased(uint32_t character) {
  return isLower(character) || isUpper(character) || isTitle(character);
}

bool anec::jinja::isSpace(uint32_t character) {
  return hf::isSpace(character) || (character >= 0x1C && character <= 0x1F);
}

bool anec::jinja::isPrintable(uint32_t character) {
  if (character < 0x7F)
    return character >= 0x20;
  switch (hf::categoryOf(character)) {
  case Category::Cn:
  case Category::Cc:
  case Category::Cf:
  case Category::Cs:
  case Category::Co:
  case Category::Zs:
  case Category::Zl:
  case Category::Zp:
    return false;
  default:
    return true;
  }
}

bool anec::jinja::isWordPart(uint32_t character) {
  return character == '_' || isLetter(character) || isNumber(character);
}

/// Of a text with cased characters, all of which are of one case.
static bool isOfCase(StringRef text, bool (*is)(uint32_t)) {
  bool found = false;
  while (!text.empty()) {
    uint32_t character = takeCharacter(text);
    if (is(character))
      found = true;
    else if (isCased(character))
      return false;
  }
  return found;
}

static bool isTitled(StringRef text) {
  bool found = false, goesOn = false;
  while (!text.empty()) {
    uint32_t character = takeCharacter(text);
    bool begins = isUpper(character) || isTitle(character);
    if (begins ? goesOn : isLower(character) && !goesOn)
      return false;
    goesOn = begins || isLower(character);
    found |= goesOn;
  }
  return found;
}

static bool isIdentifier(StringRef text) {
  bool begins = true;
  while (!text.empty()) {
    uint32_t character = takeCharacter(text);
    Category category = hf::categoryOf(character);
    bool starts =
        character == '_' || isLetter(character) || category == Category::Nl;
    bool follows = starts || category == Category::Mn ||
                   category == Category::Mc || category == Category::Nd ||
                   category == Category::Pc;
    if (begins ? !starts : !follows)
      return false;
    begins = false;
  }
  return !begins;
}

bool anec::jinja::hasProperty(StringRef text, Property property) {
  auto all = [&](auto is) {
    if (text.empty())
      return false;
    for (StringRef rest = text; !rest.empty();)
      if (!is(takeCharacter(rest)))
        return false;
    return true;
  };
  switch (property) {
  case Property::Alpha:
    return all(isLetter);
  case Property::Alnum:
    return all([](uint32_t c) { return isLetter(c) || isNumber(c); });
  case Property::Ascii:
    return isASCII(text);
  case Property::Decimal:
    return all(isDecimal);
  case Property::Digit:
    return all(isDigitOf);
  case Property::Identifier:
    return isIdentifier(text);
  case Property::Lower:
    return isOfCase(text, isLower);
  case Property::Numeric:
    return all(isNumber);
  case Property::Printable:
    return text.empty() || all(isPrintable);
  case Property::Space:
    return all(jinja::isSpace);
  case Property::Title:
    return isTitled(text);
  case Property::Upper:
    return isOfCase(text, isUpper);
  }
  llvm_unreachable("not a property");
}

//===----------------------------------------------------------------------===//
// Case
//===----------------------------------------------------------------------===//

static void appendMapped(std::string &out, uint32_t character, bool isTitle) {
  if (character < 0x80) {
    out += toUpper(char(character));
    return;
  }
  ArrayRef<FullCase> all = fullCases();
  const FullCase *full = partition_point(
      all, [&](const FullCase &each) { return each.character < character; });
  if (full == all.end() || full->character != character)
    return appendCharacter(out, isTitle ? hf::titleOf(character)
                                        : hf::upperOf(character));
  for (uint32_t part : isTitle ? full->title : full->upper)
    if (part)
      appendCharacter(out, part);
}

/// What is passed over to tell whether a word ends.
static bool isIgnorable(uint32_t character) {
  switch (hf::categoryOf(character)) {
  case Category::Mn:
  case Category::Me:
  case Category::Cf:
  case Category::Lm:
  case Category::Sk:
    return true;
  default:
    return StringRef("'.:").contains(char(character)) && character < 0x80
               ? true
               : character == 0xB7 || character == 0x2018 ||
                     character == 0x2019 || character == 0x2024 ||
                     character == 0x2027;
  }
}

/// A capital sigma becomes another letter at the end of a word.
static bool endsWord(StringRef before, StringRef after) {
  bool hasLetter = false;
  while (!before.empty() && !hasLetter) {
    uint32_t character = hf::lastCharacter(before);
    while (before.size() > 1 && (uint8_t(before.back()) & 0xC0) == 0x80)
      before = before.drop_back();
    before = before.drop_back();
    if (isIgnorable(character))
      continue;
    if (!isCased(character))
      return false;
    hasLetter = true;
  }
  while (!after.empty()) {
    uint32_t character = takeCharacter(after);
    if (!isIgnorable(character))
      return hasLetter && !isCased(character);
  }
  return hasLetter;
}

static void appendLower(std::string &out, uint32_t character, StringRef before,
                        StringRef after) {
  if (character < 0x80)
    out += toLower(char(character));
  else if (character == 0x130) // the only one of two characters
    out += "i\xCC\x87";
  else if (character == 0x3A3)
    appendCharacter(out, endsWord(before, after) ? 0x3C2 : 0x3C3);
  else
    appendCharacter(out, hf::lowerOf(character));
}

std::string anec::jinja::withCase(StringRef text, Case to) {
  std::string out;
  out.reserve(text.size());
  bool goesOn = false;
  for (StringRef rest = text; !rest.empty();) {
    StringRef before = text.drop_back(rest.size());
    uint32_t character = takeCharacter(rest);
    bool raises = to == Case::Upper ||
                  ((to == Case::Title || to == Case::Capital) && !goesOn) ||
                  (to == Case::Swapped && isLower(character));
    if (to == Case::Folded)
      hf::appendFolded(out, character);
    else if (to == Case::Swapped && !raises && !isUpper(character))
      appendCharacter(out, character);
    else if (raises)
      appendMapped(out, character, to == Case::Title || to == Case::Capital);
    else
      appendLower(out, character, before, rest);
    goesOn = to == Case::Capital || isCased(character);
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// `text` without characters that satisfy `is` at the chosen ends.
template <typename Predicate>
static StringRef strippedOf(StringRef text, bool left, bool right,
                            Predicate is) {
  while (left && !text.empty()) {
    StringRef rest = text;
    if (!is(takeCharacter(rest)))
      break;
    text = rest;
  }
  while (right && !text.empty()) {
    if (!is(hf::lastCharacter(text)))
      break;
    while (text.size() > 1 && (uint8_t(text.back()) & 0xC0) == 0x80)
      text = text.drop_back();
    text = text.drop_back();
  }
  return text;
}

StringRef anec::jinja::stripped(StringRef text, bool left, bool right) {
  return strippedOf(text, left, right,
                    [](uint32_t c) { return jinja::isSpace(c); });
}

StringRef anec::jinja::stripped(StringRef text, bool left, bool right,
                                StringRef set) {
  std::u32string characters = decoded(set);
  return strippedOf(text, left, right, [&](uint32_t c) {
    return characters.find(char32_t(c)) != std::u32string::npos;
  });
}

std::vector<StringRef> anec::jinja::lines(StringRef text, bool keepEnds) {
  std::vector<StringRef> out;
  while (!text.empty()) {
    StringRef rest = text;
    size_t size = 0;
    uint32_t character = 0;
    auto endsLine = [](uint32_t c) {
      return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) ||
             c == 0x85 || c == 0x2028 || c == 0x2029;
    };
    while (!rest.empty()) {
      size = text.size() - rest.size();
      character = takeCharacter(rest);
      if (endsLine(character))
        break;
      size = text.size() - rest.size();
    }
    if (character == '\r')
      rest.consume_front("\n");
    out.push_back(text.take_front(keepEnds ? text.size() - rest.size() : size));
    text = rest;
  }
  return out;
}

std::string anec::jinja::escaped(StringRef text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&#34;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      out += c;
    }
  return out;
}

size_t anec::jinja::findPart(StringRef text, StringRef part, size_t from) {
  // The usual way is faster, and slow only for long parts that nearly occur.
  if (part.size() < 8)
    return text.find(part, from);
  // Knuth, Morris and Pratt: the longest beginning of `part` that ends here.
  std::vector<uint32_t> shorter(part.size(), 0);
  for (uint32_t at = 1, size = 0; at < part.size(); ++at) {
    while (size && part[at] != part[size])
      size = shorter[size - 1];
    size += part[at] == part[size];
    shorter[at] = size;
  }
  size_t size = 0;
  for (size_t at = from; at < text.size(); ++at) {
    while (size && text[at] != part[size])
      size = shorter[size - 1];
    size += text[at] == part[size];
    if (size == part.size())
      return at + 1 - size;
  }
  return StringRef::npos;
}
