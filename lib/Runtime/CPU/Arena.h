//===- Arena.h - allocates memory for values --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_ARENA_H
#define ANEC_LIB_RUNTIME_CPU_ARENA_H

#include <cstdint>
#include <iterator>
#include <map>

namespace anec::cpu {

/// Allocates ranges of an arena that grows as needed, by smallest fit.
class Arena {
public:
  uint64_t allocate(uint64_t size) {
    auto best = free.end();
    for (auto it = free.begin(); it != free.end(); ++it)
      if (it->second >= size &&
          (best == free.end() || it->second < best->second))
        best = it;
    if (best == free.end())
      return grow(size);
    uint64_t offset = best->first, left = best->second - size;
    free.erase(best);
    if (left != 0)
      free[offset + size] = left;
    return offset;
  }
  void release(uint64_t offset, uint64_t size) {
    auto next = free.lower_bound(offset);
    if (next != free.end() && next->first == offset + size) {
      size += next->second;
      next = free.erase(next);
    }
    if (next != free.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        previous->second += size;
        return;
      }
    }
    free[offset] = size;
  }
  uint64_t size() const { return end; }

private:
  /// Extends the last free range, or the arena.
  uint64_t grow(uint64_t size) {
    uint64_t offset = end;
    if (!free.empty()) {
      auto last = std::prev(free.end());
      if (last->first + last->second == end) {
        offset = last->first;
        free.erase(last);
      }
    }
    end = offset + size;
    return offset;
  }
  std::map<uint64_t, uint64_t> free; ///< offset -> size
  uint64_t end = 0;
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_ARENA_H
