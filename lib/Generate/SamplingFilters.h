//===- SamplingFilters.h - which tokens can be drawn ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_GENERATE_SAMPLINGFILTERS_H
#define ANEC_LIB_TRAIN_GENERATE_SAMPLINGFILTERS_H

#include "anec/Generate/Sampler.h"
#include "llvm/ADT/StringRef.h"

namespace anec {

struct Candidate {
  int32_t id;
  double logit;
  uint64_t weight; ///< in filters by weight
};
using Candidates = std::vector<Candidate>;

/// A step from logits to what is drawn from.
struct SamplingFilter {
  llvm::StringLiteral flag;
  /// Changes or removes candidates; at least one stays. `text` is what they
  /// would follow.
  void (*apply)(Candidates &candidates, const SamplingOptions &options,
                llvm::ArrayRef<int32_t> text);
  /// Whether `options` make the filter do something.
  bool (*isActive)(const SamplingOptions &options);
};

/// The filters of logits, in order. The temperature is the last but one, so
/// that the weights are those of the scaled logits.
llvm::ArrayRef<SamplingFilter> logitFilters();
/// Those of weights, which follow.
llvm::ArrayRef<SamplingFilter> weightFilters();

/// 2^40 * e^x for x <= 0, rounded down, computed in integers with a relative
/// error below 2^-40.
uint64_t exponentialWeight(double x);

} // namespace anec

#endif // ANEC_LIB_TRAIN_GENERATE_SAMPLINGFILTERS_H
