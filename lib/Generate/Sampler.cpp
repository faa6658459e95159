//===- Sampler.cpp - draws the next token ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/Sampler.h"
#include "SamplingFilters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace anec;

using Wide = unsigned __int128;

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

TokenDistribution::TokenDistribution(std::vector<WeightedToken> tokens)
    : all(std::move(tokens)) {
  for (const WeightedToken &token : all)
    total += token.weight;
  assert(total > 0 && "no token can follow");
}

uint64_t TokenDistribution::weightOf(int32_t id) const {
  const auto *found = llvm::lower_bound(
      tokens(), id,
      [](const WeightedToken &token, int32_t id) { return token.id < id; });
  return found != tokens().end() && found->id == id ? found->weight : 0;
}

std::optional<TokenDistribution>
Sampler::distribution(llvm::ArrayRef<float> logits,
                      llvm::ArrayRef<int32_t> text) const {
  if (!std::isfinite(*std::max_element(logits.begin(), logits.end())) ||
      llvm::any_of(logits, [](float logit) { return std::isnan(logit); }))
    return std::nullopt;
  Candidates candidates(logits.size());
  for (size_t id = 0; id < logits.size(); ++id)
    candidates[id] = {int32_t(id), double(logits[id]), 0};
  for (const SamplingFilter &filter : logitFilters())
    if (filter.isActive(options))
      filter.apply(candidates, options, text);

  auto best = std::max_element(candidates.begin(), candidates.end(),
                               [](const Candidate &a, const Candidate &b) {
                                 return a.logit != b.logit ? a.logit < b.logit
                                                           : a.id > b.id;
                               });
  if (options.temperature == 0)
    return TokenDistribution::only(best->id);
  double most = best->logit;
  for (Candidate &candidate : candidates)
    candidate.weight = exponentialWeight(candidate.logit - most);
  for (const SamplingFilter &filter : weightFilters())
    if (filter.isActive(options))
      filter.apply(candidates, options, text);

  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.id < b.id;
  });
  std::vector<WeightedToken> tokens;
  tokens.reserve(candidates.size());
  for (const Candidate &candidate : candidates)
    if (candidate.weight)
      tokens.push_back({candidate.id, candidate.weight});
  return TokenDistribution(std::move(tokens));
}

double anec::logProbability(llvm::ArrayRef<float> logits, int32_t id) {
  double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(double(logit) - most);
  return double(logits[size_t(id)]) - most - std::log(sum);
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

uint64_t Sampler::randomBelow(uint64_t bound) {
  return uint64_t((Wide(random()) * bound) >> 64);
}

int32_t Sampler::draw(const TokenDistribution &distribution) {
  if (distribution.tokens().size() == 1)
    return distribution.tokens().front().id;
  uint64_t left = randomBelow(distribution.sum());
  for (const WeightedToken &token : distribution.tokens()) {
    if (left < token.weight)
      return token.id;
    left -= token.weight;
  }
  llvm_unreachable("weights that do not sum to their sum");
}

std::optional<int32_t> Sampler::sample(llvm::ArrayRef<float> logits,
                                       llvm::ArrayRef<int32_t> text) {
  std::optional<TokenDistribution> tokens = distribution(logits, text);
  if (!tokens)
    return std::nullopt;
  return draw(*tokens);
}

/// What is left of `target` where `draft` is taken away, each as a share of its
/// sum: max(0, p - q) for each token, times a number for all.
static TokenDistribution excess(const TokenDistribution &target,
                                const TokenDistribution &draft) {
  std::vector<std::pair<int32_t, Wide>> left;
  Wide sum = 0;
  for (const WeightedToken &token : target.tokens()) {
    Wide p = Wide(token.weight) * draft.sum(),
         q = Wide(draft.weightOf(token.id)) * target.sum();
    if (p > q) {
      left.emplace_back(token.id, p - q);
      sum += p - q;
    }
  }
  // The sum has to fit 63 bits. What is lost is less than 2^-40 of it.
  unsigned shift = 0;
  while ((sum >> shift) >> 62)
    ++shift;
  std::vector<WeightedToken> tokens;
  for (auto [id, weight] : left)
    if (auto kept = uint64_t(weight >> shift))
      tokens.push_back({id, kept});
  return TokenDistribution(std::move(tokens));
}

int32_t Sampler::verify(const TokenDistribution &target,
                        const TokenDistribution &draft, int32_t proposed) {
  Wide p = Wide(target.weightOf(proposed)) * draft.sum(),
       q = Wide(draft.weightOf(proposed)) * target.sum();
  assert(q > 0 && "the draft cannot have drawn it");
  if (p >= q)
    return proposed;
  if (p > 0 && double(random() >> 11) * 0x1p-53 * double(q) < double(p))
    return proposed;
  return draw(excess(target, draft));
}
