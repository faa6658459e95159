//===- Precompiled.cpp - the character map of SentencePiece ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The size of a trie in bytes, the trie, which is a double array of 32-bit
/// units, and texts that end with 0. The trie maps characters to places of
/// texts. A character is looked up by its shortest prefix in the trie, as the
/// library tokenizers does.
///
//===----------------------------------------------------------------------===//

#include "Normalizers.h"
#include "Unicode.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Endian.h"

using namespace anec::hf;
using namespace llvm;

namespace {
class Precompiled : public Normalizer {
public:
  explicit Precompiled(std::vector<char> bytes) : bytes(std::move(bytes)) {}

  /// Whether the parts are as large as they say.
  bool check() const {
    if (bytes.size() < 4)
      return false;
    uint32_t size = support::endian::read32le(bytes.data());
    return size % 4 == 0 && size >= 4 && size <= bytes.size() - 4;
  }

  bool apply(Stretch &stretch, std::string &) const override {
    std::string normal;
    forEachGrapheme(stretch.text, [&](StringRef cluster) {
      std::optional<std::string> whole;
      // SentencePiece has no longer ones.
      if (cluster.size() < 6)
        whole = lookUp(cluster);
      if (whole) {
        normal += *whole;
        return;
      }
      while (!cluster.empty()) {
        StringRef character = cluster.take_front(characterSize(cluster));
        cluster = cluster.drop_front(character.size());
        normal += lookUp(character).value_or(character.str());
      }
    });
    stretch.text = std::move(normal);
    return true;
  }

private:
  size_t unitCount() const {
    return support::endian::read32le(bytes.data()) / 4;
  }
  /// Unit number `index`, 0 beyond the trie.
  uint32_t unit(size_t index) const {
    return index < unitCount()
               ? support::endian::read32le(bytes.data() + 4 + 4 * index)
               : 0;
  }
  static size_t offsetOf(uint32_t unit) {
    return (unit >> 10) << ((unit & (1u << 9)) >> 6);
  }

  std::optional<std::string> lookUp(StringRef key) const {
    size_t node = offsetOf(unit(0));
    for (char byte : key) {
      if (byte == 0)
        return std::nullopt;
      node ^= uint8_t(byte);
      uint32_t found = unit(node);
      if ((found & ((1u << 31) | 0xFF)) != uint8_t(byte))
        return std::nullopt;
      node ^= offsetOf(found);
      if (found >> 8 & 1)
        return textAt(unit(node) & ~(1u << 31));
    }
    return std::nullopt;
  }
  std::string textAt(size_t place) const {
    StringRef texts(bytes.data() + 4 + 4 * unitCount(),
                    bytes.size() - 4 - 4 * unitCount());
    StringRef rest = texts.drop_front(std::min(place, texts.size()));
    return escapeInvalid(rest.take_front(rest.find('\0')));
  }

  std::vector<char> bytes;
};
} // namespace

static std::unique_ptr<Normalizer> readPrecompiled(Fields &fields) {
  std::string text = fields.text("precompiled_charsmap");
  std::vector<char> bytes;
  if (Error wrong = decodeBase64(text, bytes)) {
    consumeError(std::move(wrong));
    bytes.clear();
  }
  auto result = std::make_unique<Precompiled>(std::move(bytes));
  if (!result->check())
    fields.error().malformed("`" + fields.pathOf("precompiled_charsmap") +
                             "` is damaged");
  return fields.error() ? nullptr : std::move(result);
}

constinit const NormalizerRow anec::hf::precompiledRow = {"Precompiled",
                                                          readPrecompiled};
