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

/// Threads, and memory for values that live during a run only, of programs that
/// never run at the same time.
class Workspace {
public:
  explicit Workspace(std::shared_ptr<Executor> executor)
      : shared(std::move(executor)) {}
  /// With an executor of its own; 0 means a thread per processor.
  explicit Workspace(unsigned threads = 0)
      : Workspace(std::make_shared<Executor>(threads)) {}

  Executor &executor() const { return *shared; }
  const std::shared_ptr<Executor> &sharedExecutor() const { return shared; }

  /// At least `words` of 4 bytes, on a cache line: what an earlier program got
  /// when that is large enough. They stay as long as this does.
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
