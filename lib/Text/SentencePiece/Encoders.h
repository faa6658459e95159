//===- Encoders.h - texts divided into pieces -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_SENTENCEPIECE_ENCODERS_H
#define ANEC_LIB_TEXT_SENTENCEPIECE_ENCODERS_H

#include "../PieceTrie.h"
#include "Model.h"

namespace anec::spm {

/// A part of a text and the id of its piece, which may be the unknown one.
struct Part {
  llvm::StringRef text;
  int32_t id;
};

/// Divides normalized texts in the way of one type of model.
class Encoder {
public:
  virtual ~Encoder() = default;
  virtual std::vector<Part> divide(llvm::StringRef text) const = 0;
};

/// The encoder of `model`, which it refers to, as to `userDefined`, the pieces
/// of that type.
std::unique_ptr<Encoder> makeEncoder(const Model &model,
                                     const PieceTrie &userDefined);

// One for each type.
std::unique_ptr<Encoder> makeUnigram(const Model &model);
std::unique_ptr<Encoder> makeBpe(const Model &model,
                                 const PieceTrie &userDefined);

/// The size of the first character of `text`, which is not empty, by its first
/// byte.
size_t characterSize(llvm::StringRef text);
/// That, or the size of the longest piece that a user defined and `text` begins
/// with; `isWhole` says which.
size_t symbolSize(llvm::StringRef text, const PieceTrie &userDefined,
                  bool &isWhole);

} // namespace anec::spm

#endif // ANEC_LIB_TEXT_SENTENCEPIECE_ENCODERS_H
