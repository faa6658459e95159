//===- Normalizer.cpp - the text that pieces spell ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Normalizer.h"
#include "../Utf8.h"

using namespace anec;
using namespace anec::spm;
using namespace llvm;

Normalizer::Normalizer(const Model &model, const PieceTrie &userDefined)
    : spec(*model.normalizer), userDefined(userDefined), map(spec.characterMap),
      hasMap(!spec.characterMap.empty()),
      spaceIsSuffix(model.trainer->spaceIsSuffix) {}

/// The longest sequence of the map that `text` begins with, or its first
/// character. A piece that a user defined stays as it is.
Normalizer::Prefix Normalizer::takePrefix(StringRef text) const {
  if (size_t size = userDefined.longestPrefix(text))
    return {size, text.take_front(size)};
  Prefix longest = {0, ""};
  if (hasMap) {
    // SentencePiece looks at so many sequences.
    unsigned left = 32;
    map.forEachPrefix(text, [&](size_t size, StringRef replacement) {
      longest = {size, replacement};
      return --left > 0;
    });
  }
  if (longest.size > 0)
    return longest;
  if (size_t size = legalCharacterSize(text))
    return {size, text.take_front(size)};
  return {1, "\xEF\xBF\xBD"};
}

bool Normalizer::apply(StringRef text, std::string &normal) const {
  // The longest replacement of Unicode's forms is 18 times as long.
  size_t most = 64 * text.size() + 64;
  normal.clear();
  if (spec.dropsSpaces)
    while (!text.empty()) {
      Prefix prefix = takePrefix(text);
      if (prefix.text != " ")
        break;
      text = text.drop_front(prefix.size);
    }
  if (text.empty())
    return true;
  StringRef space = spec.escapesSpaces ? StringRef(spaceMark) : " ";
  if (spec.addsSpace && !spaceIsSuffix)
    normal += space;
  bool isBehindSpace = spec.dropsSpaces;
  while (!text.empty()) {
    Prefix prefix = takePrefix(text);
    text = text.drop_front(prefix.size);
    StringRef part = prefix.text;
    if (isBehindSpace)
      part = part.ltrim(' ');
    for (char byte : part) {
      if (byte == ' ')
        normal += space;
      else
        normal += byte;
    }
    if (!part.empty())
      isBehindSpace = part.back() == ' ';
    isBehindSpace &= spec.dropsSpaces;
    if (normal.size() > most)
      return false;
  }
  if (spec.dropsSpaces)
    while (StringRef(normal).ends_with(space))
      normal.resize(normal.size() - space.size());
  if (spec.addsSpace && spaceIsSuffix)
    normal += space;
  return true;
}
