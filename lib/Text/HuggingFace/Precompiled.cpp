//===- Precompiled.cpp - the character map of SentencePiece ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A character is looked up by the shortest sequence of the map that it begins
/// with, as the library tokenizers does.
///
//===----------------------------------------------------------------------===//

#include "../CharacterMap.h"
#include "Normalizers.h"
#include "Unicode.h"
#include "llvm/Support/Base64.h"

using namespace anec::hf;
using namespace llvm;

namespace {
class Precompiled : public Normalizer {
public:
  explicit Precompiled(std::vector<char> given)
      : bytes(std::move(given)), map({bytes.data(), bytes.size()}) {}

  bool isWhole() const { return map.isWhole(); }

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
  std::optional<std::string> lookUp(StringRef key) const {
    std::optional<std::string> shortest;
    map.forEachPrefix(key, [&](size_t, StringRef text) {
      shortest = escapeInvalid(text);
      return false;
    });
    return shortest;
  }

  std::vector<char> bytes;
  anec::CharacterMap map;
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
  if (!result->isWhole())
    fields.error().malformed("`" + fields.pathOf("precompiled_charsmap") +
                             "` is damaged");
  return fields.error() ? nullptr : std::move(result);
}

constinit const NormalizerRow anec::hf::precompiledRow = {"Precompiled",
                                                          readPrecompiled};
