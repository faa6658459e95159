//===- RandomDecoder.h - random language models -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_DECODE_RANDOMDECODER_H
#define ANEC_TEST_FUZZ_DECODE_RANDOMDECODER_H

#include "Choices.h"
#include <string>

namespace anec::fuzz {

struct Decoder {
  std::string text; ///< .tdsl
  unsigned positions = 0, vocabulary = 0;
};

/// A causal language model: layers of attention in the forms that `sdpa` and
/// `rope` have, feed-forwards and mixtures of experts, norms, biases, learned
/// positions, in repeats and outside of them.
Decoder randomDecoder(Choices &choices);

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_DECODE_RANDOMDECODER_H
