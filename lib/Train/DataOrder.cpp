//===- DataOrder.cpp - which examples a run is given when -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/DataOrder.h"
#include "lib/Support/SplitMix.h"
#include <cmath>
#include <numeric>

using namespace anec;

namespace {
/// SplitMix64: the same numbers on any machine.
class RandomNumbers {
public:
  explicit RandomNumbers(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t number = splitMix(state);
    state += splitMixStep;
    return number;
  }
  /// Below `bound`; the bias is below bound / 2^64.
  uint64_t below(uint64_t bound) {
    return uint64_t((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

private:
  uint64_t state;
};
} // namespace

std::optional<DataOrder> DataOrder::divide(uint64_t count, uint64_t perRun,
                                           double validationShare,
                                           uint64_t seed) {
  DataOrder order;
  order.perRun = perRun;
  order.seed = seed;
  // At least one run, if any are wanted.
  if (validationShare > 0)
    order.validation = std::max<uint64_t>(
        uint64_t(std::llround(double(count) * validationShare)), perRun);
  if (count < order.validation + perRun)
    return std::nullopt;
  order.training = count - order.validation;
  return order;
}

void DataOrder::shuffle(uint64_t epoch) {
  order.resize(training);
  std::iota(order.begin(), order.end(), 0);
  RandomNumbers random(RandomNumbers(seed).next() + epoch);
  for (uint64_t i = training; i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  shuffled = epoch;
}

llvm::ArrayRef<uint64_t> DataOrder::next(DataPosition &position) {
  assert(has(position));
  if (position.window + perRun > training)
    position = {position.epoch + 1, 0};
  if (shuffled != position.epoch)
    shuffle(position.epoch);
  uint64_t begin = position.window;
  position.window += perRun;
  return llvm::ArrayRef(order).slice(begin, perRun);
}

std::vector<uint64_t> DataOrder::validationRun(uint64_t index) const {
  std::vector<uint64_t> examples(perRun);
  std::iota(examples.begin(), examples.end(), training + index * perRun);
  return examples;
}
