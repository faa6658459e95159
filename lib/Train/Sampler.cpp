//===- Sampler.cpp - draws the next token ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/Sampler.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;

std::optional<int32_t> Sampler::sample(llvm::ArrayRef<float> logits) {
  const float *best = std::max_element(logits.begin(), logits.end());
  if (!std::isfinite(*best) ||
      llvm::any_of(logits, [](float logit) { return std::isnan(logit); }))
    return std::nullopt;
  if (options.temperature == 0)
    return int32_t(best - logits.begin());

  double sum = 0;
  probabilities.clear();
  for (float logit : logits) {
    probabilities.push_back(
        std::exp((double(logit) - *best) / options.temperature));
    sum += probabilities.back();
  }

  // Tokens below an equal share of the remaining probability are never chosen.
  double least = options.topP < 1 && logits.size() > 1
                     ? sum * (1 - options.topP) / double(logits.size() - 1)
                     : 0;
  candidates.clear();
  for (size_t id = 0; id < logits.size(); ++id)
    if (probabilities[id] >= least)
      candidates.push_back(int32_t(id));
  double kept = 0;
  if (options.topP < 1) {
    llvm::stable_sort(candidates, [&](int32_t lhs, int32_t rhs) {
      return probabilities[lhs] > probabilities[rhs];
    });
    size_t count = 0;
    while (count < candidates.size() &&
           (count == 0 || kept < options.topP * sum))
      kept += probabilities[candidates[count++]];
    candidates.resize(count);
  } else {
    kept = sum;
  }

  // 53 bits of a number below 1.
  double left = double(random() >> 11) * 0x1p-53 * kept;
  for (int32_t id : candidates) {
    left -= probabilities[id];
    if (left < 0)
      return id;
  }
  return candidates.back();
}
