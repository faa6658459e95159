//===- SplitMix.h - numbers that are the same everywhere --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_SPLITMIX_H
#define ANEC_LIB_SUPPORT_SPLITMIX_H

#include <cstdint>

namespace anec {

/// By how much SplitMix64's state grows for each number.
constexpr uint64_t splitMixStep = 0x9e3779b97f4a7c15;

/// SplitMix64: the number after state `state`, whose bits look random even for
/// consecutive states. The same on all machines.
constexpr uint64_t splitMix(uint64_t state) {
  state += splitMixStep;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

} // namespace anec

#endif // ANEC_LIB_SUPPORT_SPLITMIX_H
