//===- AlignedArray.cpp - cache-line aligned floats -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/AlignedArray.h"
#include "lib/Support/MemoryLimit.h"
#include "llvm/Support/MathExtras.h"
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

using namespace anec;

/// Ends as operator new does.
[[noreturn]] static void failAllocation() {
  if (std::new_handler handler = std::get_new_handler())
    handler();
  throw std::bad_alloc();
}

AlignedArray anec::makeAlignedArray(size_t count) {
  constexpr size_t cacheLine = 64, hugePage = size_t(2) << 20;
  size_t bytes = llvm::alignTo(count ? count * sizeof(float) : 1, cacheLine);
  // A product reads many rows of a matrix at once, each on its own page: more
  // pages than the TLB holds, unless they are huge.
  bool large = bytes >= hugePage;
  size_t alignment = large ? hugePage : cacheLine;
  size_t size = llvm::alignTo(bytes, alignment);
  void *memory = nullptr;
  if (!large || hasMemoryFor(size))
    memory = std::aligned_alloc(alignment, size);
  if (!memory)
    failAllocation();
#if defined(__linux__)
  if (large)
    (void)madvise(memory, size, MADV_HUGEPAGE);
#endif
  return AlignedArray(static_cast<float *>(memory));
}
