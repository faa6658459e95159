//===- Sampler.h - draws the next token ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_SAMPLER_H
#define ANEC_TRAIN_SAMPLER_H

#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <random>

namespace anec {

struct SamplingOptions {
  /// Divides the logits; 0 takes the most likely token.
  double temperature = 1;
  /// Samples from the smallest set of most likely tokens whose probabilities
  /// sum to at least this; 1 for all tokens.
  double topP = 0.9;
  uint64_t seed = 0;
};

/// Samples tokens. The same seed and logits give the same tokens on any
/// machine.
class Sampler {
public:
  explicit Sampler(const SamplingOptions &options)
      : options(options), random(options.seed) {}

  /// An index into `logits`, which must not be empty; nothing when they are not
  /// finite.
  std::optional<int32_t> sample(llvm::ArrayRef<float> logits);

private:
  SamplingOptions options;
  std::mt19937_64 random;
  std::vector<double> probabilities;
  std::vector<int32_t> candidates;
};

} // namespace anec

#endif // ANEC_TRAIN_SAMPLER_H
