//===- CharacterMap.h - the character map of SentencePiece ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The size of a trie in bytes, the trie, which is a double array of 32-bit
/// units, and texts that end with 0. The trie maps sequences of characters to
/// places of texts (`precompiled_charsmap` of SentencePiece's normalizer, and
/// the layout of units of the library darts-clone).
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_CHARACTERMAP_H
#define ANEC_LIB_TEXT_CHARACTERMAP_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"

namespace anec {

/// Refers to the bytes that it was made of. Of a map that is not whole, units
/// and texts that are not there are read as 0 and as empty.
class CharacterMap {
public:
  CharacterMap() = default;
  explicit CharacterMap(llvm::StringRef bytes) : bytes(bytes) {}

  /// Whether the parts are as large as they say, and every unit and text that
  /// the trie refers to is there.
  bool isWhole() const {
    if (bytes.size() < 4)
      return false;
    size_t size = llvm::support::endian::read32le(bytes.data());
    if (size % 4 != 0 || size < 4 || size > bytes.size() - 4)
      return false;
    size_t texts = bytes.size() - 4 - size;
    for (size_t index = 0; index < unitCount(); ++index) {
      uint32_t from = unit(index);
      if (from & isLeaf) {
        if (index == 0)
          return false;
        continue;
      }
      size_t to = index ^ offsetOf(from);
      if (to >= unitCount() ||
          (hasText(from) &&
           (!(unit(to) & isLeaf) || (unit(to) & ~isLeaf) >= texts)))
        return false;
    }
    return true;
  }

  /// Calls `take` with the size of each sequence that `text` begins with, the
  /// shortest first, and with what replaces it, until `take` returns false. A
  /// byte 0 ends all sequences.
  template <typename Take>
  void forEachPrefix(llvm::StringRef text, Take take) const {
    size_t node = offsetOf(unit(0));
    for (size_t at = 0; at < text.size() && text[at] != 0; ++at) {
      uint8_t byte = uint8_t(text[at]);
      node ^= byte;
      uint32_t found = unit(node);
      if ((found & (isLeaf | 0xFF)) != byte)
        return;
      node ^= offsetOf(found);
      if (hasText(found) && !take(at + 1, textAt(unit(node) & ~isLeaf)))
        return;
    }
  }

private:
  static constexpr uint32_t isLeaf = 1u << 31;

  size_t unitCount() const {
    return llvm::support::endian::read32le(bytes.data()) / 4;
  }
  uint32_t unit(size_t index) const {
    return index < unitCount()
               ? llvm::support::endian::read32le(bytes.data() + 4 + 4 * index)
               : 0;
  }
  static bool hasText(uint32_t unit) { return unit >> 8 & 1; }
  static size_t offsetOf(uint32_t unit) {
    return size_t(unit >> 10) << ((unit & (1u << 9)) >> 6);
  }
  llvm::StringRef textAt(size_t place) const {
    llvm::StringRef rest = bytes.drop_front(4 + 4 * unitCount());
    rest = rest.drop_front(std::min(place, rest.size()));
    return rest.take_front(rest.find('\0'));
  }

  llvm::StringRef bytes;
};

} // namespace anec

#endif // ANEC_LIB_TEXT_CHARACTERMAP_H
