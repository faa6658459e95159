//===- Normalizer.h - the text that pieces spell ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_SENTENCEPIECE_NORMALIZER_H
#define ANEC_LIB_TEXT_SENTENCEPIECE_NORMALIZER_H

#include "../CharacterMap.h"
#include "../PieceTrie.h"
#include "Model.h"

namespace anec::spm {

class Normalizer {
public:
  /// Refers to `model` and to `userDefined`, its pieces of that type.
  Normalizer(const Model &model, const PieceTrie &userDefined);

  /// Sets `normal` to what pieces have to spell for `text`: characters replaced
  /// by the map, spaces as marks, and an invalid byte as U+FFFD. Returns false
  /// when that is many times larger than the text, which no published map does.
  [[nodiscard]] bool apply(llvm::StringRef text, std::string &normal) const;

private:
  struct Prefix {
    size_t size; ///< of what is replaced
    llvm::StringRef text;
  };
  Prefix takePrefix(llvm::StringRef text) const;

  const NormalizerSpec &spec;
  const PieceTrie &userDefined;
  CharacterMap map;
  bool hasMap, spaceIsSuffix;
};

} // namespace anec::spm

#endif // ANEC_LIB_TEXT_SENTENCEPIECE_NORMALIZER_H
