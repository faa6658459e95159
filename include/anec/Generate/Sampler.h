//===- Sampler.h - draws the next token ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// From the logits of a model to a token: filters, in a fixed order, leave some
/// tokens with a weight each, and one of them is drawn. Weights are integers,
/// so that neither the order of a sum nor a machine's `exp` has an influence:
/// the same seed and logits give the same tokens on any machine.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_SAMPLER_H
#define ANEC_GENERATE_SAMPLER_H

#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <random>
#include <string>

namespace anec {

/// How tokens are chosen. Filters apply in the order of docs/use/generate.md:
/// repeat penalty, temperature, top-k, top-p, min-p.
struct SamplingOptions {
  /// Divides the logits; 0 takes the most likely token.
  double temperature = 1;
  /// Keeps the smallest set of most likely tokens whose probabilities sum to at
  /// least this; 1 keeps all.
  double topP = 0.9;
  uint64_t seed = 0;
  /// Keeps as many of the most likely tokens; 0 keeps all.
  unsigned topK = 0;
  /// Keeps tokens that are at least this share as likely as the most likely
  /// one; 0 keeps all.
  double minP = 0;
  /// Divides positive logits, and multiplies others, of tokens that are among
  /// the last `repeatWindow` of the text (0: in the whole text); 1 does
  /// nothing.
  double repeatPenalty = 1;
  unsigned repeatWindow = 64;
};

/// What is wrong with the options: `--top-p takes ...`; empty when they are
/// valid.
std::string checkSampling(const SamplingOptions &options);

struct WeightedToken {
  int32_t id = 0;
  /// Its probability, times the sum of the weights.
  uint64_t weight = 0;
};

/// The tokens that can follow a text, by id. Their weights sum to less than
/// 2^63.
class TokenDistribution {
public:
  TokenDistribution() = default;
  /// `tokens` must be sorted by id.
  explicit TokenDistribution(std::vector<WeightedToken> tokens);
  /// `id` alone.
  static TokenDistribution only(int32_t id) {
    return TokenDistribution({{id, 1}});
  }

  llvm::ArrayRef<WeightedToken> tokens() const { return all; }
  uint64_t sum() const { return total; }
  uint64_t weightOf(int32_t id) const;
  double probabilityOf(int32_t id) const {
    return double(weightOf(id)) / double(total);
  }

private:
  std::vector<WeightedToken> all;
  uint64_t total = 0;
};

class Sampler {
public:
  explicit Sampler(const SamplingOptions &options)
      : options(options), random(options.seed) {}

  /// What can follow `text`, by the logits of all ids; nothing when they are
  /// not finite. Logits may be -inf, of tokens that never follow. `logits` must
  /// not be empty.
  std::optional<TokenDistribution>
  distribution(llvm::ArrayRef<float> logits,
               llvm::ArrayRef<int32_t> text) const;
  /// Draws one of the tokens.
  int32_t draw(const TokenDistribution &tokens);
  /// Both at once.
  std::optional<int32_t> sample(llvm::ArrayRef<float> logits,
                                llvm::ArrayRef<int32_t> text = {});

  /// The token that follows when `proposed` was drawn from `draft`:
  /// `proposed` with the probability min(1, p/q), where p and q are its
  /// probabilities in `target` and `draft`, and otherwise one drawn from what
  /// p exceeds q by. Its distribution is `target`.
  int32_t verify(const TokenDistribution &target,
                 const TokenDistribution &draft, int32_t proposed);

private:
  /// Below `bound`.
  uint64_t randomBelow(uint64_t bound);

  SamplingOptions options;
  std::mt19937_64 random;
};

/// The natural logarithm of the probability of `id` in the softmax of `logits`,
/// without any filters.
double logProbability(llvm::ArrayRef<float> logits, int32_t id);

} // namespace anec

#endif // ANEC_GENERATE_SAMPLER_H
