//===- Characters.h - texts as Python has them ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Texts are UTF-8; Python counts their characters. Only HuggingFace/Unicode
/// knows the tables of Unicode.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_CHARACTERS_H
#define ANEC_LIB_TEXT_JINJA_CHARACTERS_H

#include "../HuggingFace/Unicode.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace anec::jinja {

namespace hf = anec::hf;
using hf::appendCharacter;
using hf::takeCharacter;

std::u32string decoded(llvm::StringRef text);
std::string encoded(std::u32string_view text);
size_t countCharacters(llvm::StringRef text);
/// The offset of a character; the size of `text` if it has fewer.
size_t offsetOf(llvm::StringRef text, size_t character);

/// What str.isspace takes as white space, and strip() removes.
bool isSpace(uint32_t character);
bool isPrintable(uint32_t character);
/// Python's strip() at the chosen ends, of white space.
llvm::StringRef stripped(llvm::StringRef text, bool left, bool right);
/// The same, of the characters in `set`.
llvm::StringRef stripped(llvm::StringRef text, bool left, bool right,
                         llvm::StringRef set);
/// Python's splitlines().
std::vector<llvm::StringRef> lines(llvm::StringRef text, bool keepEnds = false);

enum class Case : uint8_t { Upper, Lower, Title, Capital, Swapped, Folded };
std::string withCase(llvm::StringRef text, Case to);

enum class Property : uint8_t {
  Alpha,
  Alnum,
  Ascii,
  Decimal,
  Digit,
  Identifier,
  Lower,
  Numeric,
  Printable,
  Space,
  Title,
  Upper
};
/// Python's isalpha() and the others.
bool hasProperty(llvm::StringRef text, Property property);
/// A character of a word in regular expressions: \w.
bool isWordPart(uint32_t character);

/// HTML's markup as text.
std::string escaped(llvm::StringRef text);

/// Where `part` is in `text`, at `from` or behind it. Takes a time that is
/// linear in both: some nanoseconds for a byte.
size_t findPart(llvm::StringRef text, llvm::StringRef part, size_t from = 0);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_CHARACTERS_H
