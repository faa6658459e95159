//===- DecodePrograms.h - which programs decode a model ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_DECODEPROGRAMS_H
#define ANEC_PASSES_DECODEPROGRAMS_H

#include <cstdint>
#include <vector>

namespace anec {

/// The programs that the `incremental` pass derives: each block and prefill
/// for each context.
struct DecodePrograms {
  /// How many positions a text can have: the largest of the ladder. 0 for the
  /// number of positions of the model.
  int64_t context = 0;
  /// The numbers of cached positions; empty for `defaultLadder`.
  std::vector<int64_t> ladder;
  /// Positions per run, with logits for each of them.
  std::vector<int64_t> blocks = {1};
  /// Positions per run, with logits for one of them; those of `blocks` are left
  /// out. Empty for 64, in a context that has them.
  std::vector<int64_t> prefills;
  /// How many texts the caches have room for. A program of `blocks` reads a
  /// block of each of them, and one of `prefills` a block of one.
  int64_t batch = 1;
  /// Derive programs for the whole context alone, and none that starts a text:
  /// states have one length, and all functions read them.
  bool hasOneContext = false;
};

/// More texts than this at once have no use, and their masks take memory.
constexpr int64_t maxBatch = 1024;

/// 256 and its doubles below `context`, and `context`. Each is at most twice
/// the one before: a text pays for at most twice the positions that it has,
/// apart from short ones, whose attention is cheap.
std::vector<int64_t> defaultLadder(int64_t context);

} // namespace anec

#endif // ANEC_PASSES_DECODEPROGRAMS_H
