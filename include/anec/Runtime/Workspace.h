//===- Workspace.h - threads and memory that programs share -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_WORKSPACE_H
#define ANEC_RUNTIME_WORKSPACE_H

#include "anec/Support/AlignedArray.h"
#include "anec/Support/Executor.h"
#include <memory>
#include <vector>

namespace anec {

/// Threads, and memory for values that live only during a run, shared by
/// programs that never run at the same time.
class Workspace {
public:
  explicit Workspace(std::shared_ptr<Executor> executor)
      : shared(std::move(executor)) {}
  /// Creates its own executor; 0 means a thread per processor.
  explicit Workspace(unsigned threads = 0)
      : Workspace(std::make_shared<Executor>(threads)) {}

  Executor &executor() const { return *shared; }
  const std::shared_ptr<Executor> &sharedExecutor() const { return shared; }

  /// At least `words` of 4 bytes, cache-line aligned: the memory of an earlier
  /// program is reused when it is large enough. It lives as long as the
  /// workspace.
  uint32_t *atLeast(uint64_t words);

private:
  struct Block {
    AlignedArray memory;
    uint64_t words;
  };
  std::shared_ptr<Executor> shared;
  std::vector<Block> blocks;
};

} // namespace anec

#endif // ANEC_RUNTIME_WORKSPACE_H
