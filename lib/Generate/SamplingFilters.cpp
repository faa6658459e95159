//===- SamplingFilters.cpp - which tokens can be drawn --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The definitions are those of Hugging Face's transformers, in the order in
/// which it applies them. Arithmetic on doubles is single operations, whose
/// results IEEE 754 determines, and comparisons.
///
//===----------------------------------------------------------------------===//

#include "SamplingFilters.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// By logits
//===----------------------------------------------------------------------===//

static void penalizeRepeats(Candidates &candidates,
                            const SamplingOptions &options,
                            llvm::ArrayRef<int32_t> text) {
  if (options.repeatWindow)
    text = text.take_back(options.repeatWindow);
  llvm::DenseSet<int32_t> repeated(text.begin(), text.end());
  for (Candidate &candidate : candidates)
    if (repeated.contains(candidate.id))
      candidate.logit = candidate.logit > 0
                            ? candidate.logit / options.repeatPenalty
                            : candidate.logit * options.repeatPenalty;
}

static void scaleLogits(Candidates &candidates, const SamplingOptions &options,
                        llvm::ArrayRef<int32_t>) {
  for (Candidate &candidate : candidates)
    candidate.logit /= options.temperature;
}

/// Of equally likely tokens, the one with the lower id is kept.
static void keepTopK(Candidates &candidates, const SamplingOptions &options,
                     llvm::ArrayRef<int32_t>) {
  if (candidates.size() <= options.topK)
    return;
  std::nth_element(
      candidates.begin(), candidates.begin() + options.topK - 1,
      candidates.end(), [](const Candidate &a, const Candidate &b) {
        return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
      });
  candidates.resize(options.topK);
}

//===----------------------------------------------------------------------===//
// By weights
//===----------------------------------------------------------------------===//

static uint64_t sumOf(const Candidates &candidates) {
  uint64_t sum = 0;
  for (const Candidate &candidate : candidates)
    sum += candidate.weight;
  return sum;
}

static void keepTopP(Candidates &candidates, const SamplingOptions &options,
                     llvm::ArrayRef<int32_t>) {
  double sum = double(sumOf(candidates));
  // If all tokens outside of the set were as likely, each would have an equal
  // share of what may be missing; those below half of that need no sorting.
  double least = sum * (1 - options.topP) / double(2 * candidates.size());
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    return double(candidate.weight) < least;
  });
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  });
  double wanted = options.topP * sum;
  uint64_t kept = 0;
  size_t count = 0;
  while (count < candidates.size() && (count == 0 || double(kept) < wanted))
    kept += candidates[count++].weight;
  candidates.resize(count);
}

static void keepMinP(Candidates &candidates, const SamplingOptions &options,
                     llvm::ArrayRef<int32_t>) {
  uint64_t most = 0;
  for (const Candidate &candidate : candidates)
    most = std::max(most, candidate.weight);
  double least = options.minP * double(most);
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    return double(candidate.weight) < least;
  });
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

using Options = SamplingOptions;
static constexpr SamplingFilter byLogit[] = {
    {"repeat-penalty", penalizeRepeats,
     [](const Options &options) { return options.repeatPenalty != 1; }},
    {"temperature", scaleLogits,
     [](const Options &options) {
       return options.temperature != 1 && options.temperature != 0;
     }},
    {"top-k", keepTopK,
     [](const Options &options) { return options.topK > 0; }},
};
static constexpr SamplingFilter byWeight[] = {
    {"top-p", keepTopP,
     [](const Options &options) { return options.topP < 1; }},
    {"min-p", keepMinP,
     [](const Options &options) { return options.minP > 0; }},
};

llvm::ArrayRef<SamplingFilter> anec::logitFilters() { return byLogit; }
llvm::ArrayRef<SamplingFilter> anec::weightFilters() { return byWeight; }

std::string anec::checkSampling(const SamplingOptions &options) {
  // Written so that what is not a number is refused.
  if (!(options.temperature >= 0 && options.temperature <= 1e6))
    return "--temperature takes a number of at least 0";
  if (!(options.topP > 0 && options.topP <= 1))
    return "--top-p takes a number greater than 0 and at most 1";
  if (!(options.minP >= 0 && options.minP <= 1))
    return "--min-p takes a number of at least 0 and at most 1";
  if (!(options.repeatPenalty > 0 && options.repeatPenalty <= 1e6))
    return "--repeat-penalty takes a number greater than 0";
  return "";
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

uint64_t anec::exponentialWeight(double x) {
  using Wide = unsigned __int128;
  constexpr double log2e = 1.4426950408889634;
  constexpr uint64_t one = uint64_t(1) << 62, ln2 = 3196577161300663914;
  double exponent = -x * log2e; // weight = 2^(40 - exponent)
  if (!(exponent < 41))
    return 0;
  auto fixed = uint64_t(exponent * 0x1p46);
  uint64_t whole = fixed >> 46, fraction = fixed & ((uint64_t(1) << 46) - 1);
  // e^-t with t = fraction * ln 2 as its series, by Horner's rule:
  // 1 - t/1 (1 - t/2 (1 - t/3 (...))).
  auto t = uint64_t((Wide(fraction) << 16) * ln2 >> 62);
  uint64_t series = one;
  for (uint64_t k = 12; k > 0; --k)
    series = one - uint64_t((Wide(t) * series) >> 62) / k;
  return series >> (22 + whole);
}
