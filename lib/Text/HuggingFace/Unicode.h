//===- Unicode.h - characters and their properties --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

///
/// \file
/// Characters of texts that may hold bytes that are no UTF-8. Such a byte B is
/// a character of its own, U+DC00 + B, which no valid text contains. Its
/// category is that of surrogates.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_UNICODE_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_UNICODE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <string>

namespace anec::hf {

/// `text` with each byte that is no UTF-8 as a character.
std::string escapeInvalid(llvm::StringRef text);
/// Whether `character` stands for a byte that is no UTF-8.
constexpr bool isInvalidByte(uint32_t character) {
  return character >= 0xDC80 && character <= 0xDCFF;
}
/// `text`, whose invalid bytes are characters, with U+FFFD for each of them.
std::string replaceInvalid(llvm::StringRef text);

/// The number of bytes of the first character of `text`, which is not empty.
/// Of text that has not been escaped, it may be any, but not more than there
/// is.
inline size_t characterSize(llvm::StringRef text) {
  uint8_t lead = uint8_t(text.front());
  size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(size, text.size());
}
/// Removes the first character of `text`, which is not empty, and returns it.
uint32_t takeCharacter(llvm::StringRef &text);
/// The last character of `text`, which is not empty.
uint32_t lastCharacter(llvm::StringRef text);
/// Appends `character` in UTF-8.
void appendCharacter(std::string &text, uint32_t character);

/// The property White_Space.
bool isSpace(uint32_t character);
/// Categories Nd, Nl and No.
bool isNumeric(uint32_t character);
/// The categories of punctuation, and ASCII's symbols.
bool isPunctuation(uint32_t character);
/// Categories Mn, Mc and Me.
bool isMark(uint32_t character);
bool isNonspacingMark(uint32_t character);
/// Categories Cc, Cf and Co, and invalid bytes.
bool isOther(uint32_t character);
/// What `\w` of Rust's regular expressions is: Alphabetic, marks, Nd, Pc, and
/// the two joiners.
bool isWordCharacter(uint32_t character);

/// The general category of a character, in the order of libutf8proc.
enum class Category : uint8_t {
  Cn,
  Lu,
  Ll,
  Lt,
  Lm,
  Lo,
  Mn,
  Mc,
  Me,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Ps,
  Pe,
  Pi,
  Pf,
  Po,
  Sm,
  Sc,
  Sk,
  So,
  Zs,
  Zl,
  Zp,
  Cc,
  Cf,
  Cs,
  Co
};
Category categoryOf(uint32_t character);
/// Mappings to one character.
uint32_t upperOf(uint32_t character);
uint32_t lowerOf(uint32_t character);
uint32_t titleOf(uint32_t character);
/// Appends what stands for `character` where case does not count.
void appendFolded(std::string &text, uint32_t character);

/// Replaces the characters of `text` by what `replace` appends for each.
void mapCharacters(std::string &text,
                   llvm::function_ref<void(uint32_t, std::string &)> replace);
/// The full lower-case mapping of each character by itself.
std::string lowerCase(llvm::StringRef text);

enum class NormalForm : uint8_t { NFC, NFD, NFKC, NFKD };
std::string normalForm(llvm::StringRef text, NormalForm form);

/// Calls `take` with each extended grapheme cluster of `text`.
void forEachGrapheme(llvm::StringRef text,
                     llvm::function_ref<void(llvm::StringRef)> take);

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_UNICODE_H
