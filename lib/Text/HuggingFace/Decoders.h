//===- Decoders.h - from the texts of ids to text ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_DECODERS_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_DECODERS_H

#include "Fields.h"
#include <memory>
#include <string>
#include <vector>

namespace anec::hf {

/// Texts of ids on their way to bytes.
using Texts = std::vector<std::string>;

/// A step that changes the texts of ids.
class Decoder {
public:
  virtual ~Decoder();
  /// `isStart`: no other id was before these.
  virtual void apply(Texts &texts, bool isStart) const = 0;
  /// Other steps see what this one gives, as the library has it: with U+FFFD
  /// for what is no UTF-8.
  virtual void isSeen() {}
};

struct Decoding {
  std::vector<std::unique_ptr<Decoder>> steps; ///< in order
  /// Whether the steps must see all ids of a text at once; otherwise they can
  /// see one at a time.
  bool isWhole = false;
  /// Whether ids have the bytes of characters: `ByteFallback`.
  bool hasByteIds = false;

  std::string decode(Texts texts, bool isStart) const;
};

/// What `fields`, a decoder, says.
Decoding readDecoder(Fields &fields);

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_DECODERS_H
