//===- Choices.h - random choices that can be replayed ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_DECODE_CHOICES_H
#define ANEC_TEST_FUZZ_DECODE_CHOICES_H

#include "lib/Support/SplitMix.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anec::fuzz {

/// A list of numbers: drawn from a seed as far as they are not given. A list
/// with smaller numbers makes a simpler case, since the simplest choice is
/// always 0.
class Choices {
public:
  explicit Choices(uint64_t seed, std::vector<unsigned> given = {})
      : seed(seed), taken(std::move(given)), replayed(taken.size()) {}

  /// Less than `count`.
  unsigned pick(unsigned count) {
    unsigned drawn = unsigned(splitMix(seed + splitMixStep * next) % count);
    if (next < replayed)
      drawn = taken[next] < count ? taken[next] : count - 1;
    else
      taken.push_back(drawn);
    ++next;
    return drawn;
  }
  unsigned between(unsigned least, unsigned most) {
    return least + pick(most - least + 1);
  }
  /// Once in `count` times.
  bool once(unsigned count) { return pick(count) == count - 1; }
  template <typename T>
  T of(std::initializer_list<T> values) {
    return values.begin()[pick(unsigned(values.size()))];
  }
  const std::vector<unsigned> &all() const { return taken; }

private:
  uint64_t seed;
  std::vector<unsigned> taken;
  size_t replayed, next = 0;
};

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_DECODE_CHOICES_H
