//===- Windows.cpp - the windows that training takes ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The order of an epoch depends only on the seed and its number, so that a
// position is two numbers.
//
//===----------------------------------------------------------------------===//

#include "anec/Train/Diags.h"
#include "anec/Train/TokenData.h"
#include <cmath>
#include <numeric>

using namespace anec;

namespace {
/// SplitMix64: the same numbers on any machine.
class RandomNumbers {
public:
  explicit RandomNumbers(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Below `bound`; the bias is below bound / 2^64.
  uint64_t below(uint64_t bound) {
    return uint64_t((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

private:
  uint64_t state;
};
} // namespace

std::optional<Windows> Windows::divide(const TokenData &data, uint64_t length,
                                       double validationShare, uint64_t seed,
                                       Diagnostics &diags) {
  uint64_t count = (data.size() - 1) / length;
  Windows windows;
  windows.length = length;
  windows.seed = seed;
  // At least one, if any are wanted.
  if (validationShare > 0)
    windows.validation = std::max<uint64_t>(
        uint64_t(std::llround(double(count) * validationShare)), 1);
  if (count <= windows.validation) {
    uint64_t needed = (windows.validation ? 2 : 1) * length + 1;
    diags.report({}, diag::TooFewTokens, data.size(), needed, length);
    return std::nullopt;
  }
  windows.training = count - windows.validation;
  return windows;
}

void Windows::shuffle(uint64_t epoch) {
  order.resize(training);
  std::iota(order.begin(), order.end(), 0);
  RandomNumbers random(RandomNumbers(seed).next() + epoch);
  for (uint64_t i = training; i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  shuffled = epoch;
}

uint64_t Windows::next(DataPosition &position) {
  if (position.window == training)
    position = {position.epoch + 1, 0};
  if (shuffled != position.epoch)
    shuffle(position.epoch);
  return order[position.window++];
}

void Windows::read(const TokenData &data, uint64_t window,
                   llvm::MutableArrayRef<int32_t> tokens,
                   llvm::MutableArrayRef<int32_t> targets) const {
  data.copy(window * length, tokens);
  data.copy(window * length + 1, targets);
}
