//===- DecodeCheck.h - compares decoding with the full forward --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_DECODE_DECODECHECK_H
#define ANEC_TEST_FUZZ_DECODE_DECODECHECK_H

#include "RandomDecoder.h"

namespace anec::fuzz {

struct DecodeOutcome {
  std::string failure;  ///< empty for none
  unsigned columns = 0; ///< of logits that were compared
  /// Columns that differ, and that rounding errors move as far.
  unsigned illConditioned = 0;
  double worst = 0; ///< difference, by the largest logit of its text
};

/// Compiles the model for the whole text and to programs that decode, of sizes
/// that are chosen, and reads texts with both: in feeds, with tokens taken
/// back, and several texts at a time. Programs are checked for every chip.
DecodeOutcome checkDecoder(const Decoder &decoder, Choices &choices,
                           uint64_t seed);

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_DECODE_DECODECHECK_H
