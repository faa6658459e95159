//===- Workspace.cpp - threads and memory that programs share -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/Workspace.h"
#include <algorithm>

using namespace anec;

uint32_t *Workspace::atLeast(uint64_t words) {
  for (Block &block : blocks)
    if (block.words >= words)
      return reinterpret_cast<uint32_t *>(block.memory.get());
  blocks.push_back({makeAlignedArray(words), words});
  // Touches the memory now rather than in the first run.
  std::fill_n(blocks.back().memory.get(), words, 0.0f);
  return reinterpret_cast<uint32_t *>(blocks.back().memory.get());
}
