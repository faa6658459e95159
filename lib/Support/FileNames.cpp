//===- FileNames.cpp - names of files beside each other -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/FileNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"

using namespace anec;

namespace {

/// What names are compared by.
struct Keys {
  std::string folded, bare;
  bool hasEncodings = false; ///< of other characters that are the same text
};

} // namespace

/// Whether `character`, whose bytes are `text`, is part of the one before it.
static bool isMark(llvm::UTF32 character, llvm::StringRef text) {
  return llvm::sys::unicode::columnWidthUTF8(text) == 0 ||
         (character >= 0x1100 && character <= 0x11ff); // Korean letters
}

/// Ideographs that are encodings of others.
static bool isCompatible(llvm::UTF32 character) {
  return (character >= 0xf900 && character <= 0xfaff) ||
         (character >= 0x2f800 && character <= 0x2fa1f);
}

static void appendCharacter(std::string &text, llvm::UTF32 character) {
  char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
  char *end = bytes;
  if (llvm::ConvertCodePointToUTF8(character, end))
    text.append(bytes, end);
}

static Keys keysOf(llvm::StringRef name) {
  Keys keys;
  auto *next = reinterpret_cast<const llvm::UTF8 *>(name.begin());
  auto *end = reinterpret_cast<const llvm::UTF8 *>(name.end());
  while (next != end) {
    const llvm::UTF8 *begin = next;
    llvm::UTF32 character = 0;
    if (llvm::convertUTF8Sequence(&next, end, &character,
                                  llvm::strictConversion) !=
        llvm::conversionOK) {
      // No text; macOS refuses such names.
      next = begin + 1;
      keys.folded += char(*begin);
      keys.bare += char(*begin);
      continue;
    }
    if (character < 0x80) {
      keys.folded += llvm::toLower(char(character));
      keys.bare += llvm::toLower(char(character));
      continue;
    }
    appendCharacter(keys.folded,
                    llvm::sys::unicode::foldCharSimple(int(character)));
    bool mark =
        isMark(character, llvm::StringRef(reinterpret_cast<const char *>(begin),
                                          next - begin));
    keys.hasEncodings |= mark || isCompatible(character);
    // A letter and its accents are one character in the other encoding.
    if (mark && !keys.bare.empty() && keys.bare.back() != '*')
      keys.bare.pop_back();
    if (keys.bare.empty() || keys.bare.back() != '*')
      keys.bare += '*';
  }
  return keys;
}

static const std::string *findIn(const llvm::StringMap<std::string> &names,
                                 llvm::StringRef key) {
  auto found = names.find(key);
  return found == names.end() ? nullptr : &found->second;
}

const std::string *FileNames::find(llvm::StringRef name) const {
  Keys keys = keysOf(name);
  if (const std::string *same = findIn(folded, keys.folded))
    return same;
  return findIn(keys.hasEncodings ? bare : composed, keys.bare);
}

bool FileNames::add(llvm::StringRef name) {
  if (find(name))
    return false;
  Keys keys = keysOf(name);
  folded.try_emplace(keys.folded, name);
  bare.try_emplace(keys.bare, name);
  if (keys.hasEncodings)
    composed.try_emplace(keys.bare, name);
  return true;
}

std::string FileNames::addStem(llvm::StringRef stem, llvm::StringRef ending) {
  std::string chosen = stem.str();
  for (unsigned number = 2; !add(chosen + ending.str()); ++number)
    chosen = (stem + "-" + llvm::Twine(number)).str();
  return chosen;
}
