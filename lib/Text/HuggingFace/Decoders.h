//===- Decoders.h - from the texts of ids to text ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_DECODERS_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_DECODERS_H

#include "Fields.h"
#include <memory>
#include <vector>

namespace anec::hf {

/// The text of an id on its way to bytes.
struct DecodedToken {
  std::string text;
  bool isFirst; ///< no other token was before it
};

/// A step that changes the text of one token.
class Decoder {
public:
  virtual ~Decoder();
  virtual void apply(DecodedToken &token) const = 0;
};

/// The steps of `fields`, a decoder, in order.
std::vector<std::unique_ptr<Decoder>> readDecoder(Fields &fields);

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_DECODERS_H
