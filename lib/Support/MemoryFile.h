//===- MemoryFile.h - a file in memory --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What is written only to be read by the same process stays in memory: blocks
/// at given offsets, as of a file, and then the same bytes as of a mapped file.
/// Where memory does not suffice, it is on the disk, as a file without a name.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_MEMORYFILE_H
#define ANEC_LIB_SUPPORT_MEMORYFILE_H

#include "anec/Support/MappedFile.h"
#include "llvm/Support/Memory.h"
#include <atomic>
#include <memory>
#include <shared_mutex>

namespace anec {

class MemoryFile {
public:
  /// Writes `size` bytes at `offset`; can be called from several threads at
  /// once. Bytes that are not written, below the highest written one, are
  /// zeros. Returns the error as `errno`, or 0.
  [[nodiscard]] int write(uint64_t offset, const void *bytes, size_t size);
  /// Makes room for `size` bytes in all, so that they need not be moved when
  /// they are written. Returns the error as `errno`, or 0.
  [[nodiscard]] int reserve(uint64_t size);
  /// The contents, which are not written any more. `name` is for messages.
  [[nodiscard]] MappedFile share(llvm::StringRef name);

private:
  int grow(uint64_t size);
  uint64_t capacity() const { return block ? block->allocatedSize() : 0; }

  std::shared_mutex growing; ///< held for `grow`, and shared by writers
  /// Zeros where nothing is written.
  std::unique_ptr<const llvm::sys::OwningMemoryBlock> block;
  std::atomic<uint64_t> end{0}; ///< of the highest written byte
};

} // namespace anec

#endif // ANEC_LIB_SUPPORT_MEMORYFILE_H
