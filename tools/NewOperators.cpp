//===- NewOperators.cpp - what ends when memory ends ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The tools' `operator new`: where there is no memory, the tool ends with a
/// message. An allocator that replaces malloc can have its own operators, which
/// abort instead, and tables are made before main installs a handler.
///
//===----------------------------------------------------------------------===//

#include "ExitCode.h"
#include "lib/Support/MemoryLimit.h"
#include <cstdlib>
#include <new>

using namespace anec;

static void *allocate(size_t bytes, size_t alignment) {
  // Only what can end the process by itself is worth the look.
  constexpr size_t large = size_t(256) << 20;
  if (bytes < large || hasMemoryFor(bytes)) {
    size_t size = bytes ? bytes : 1;
    void *memory =
        alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
            ? std::malloc(size)
            : std::aligned_alloc(alignment, (size + alignment - 1) / alignment *
                                                alignment);
    if (memory)
      return memory;
  }
  endForWantOfMemory();
}

void *operator new(size_t bytes) { return allocate(bytes, 1); }
void *operator new[](size_t bytes) { return allocate(bytes, 1); }
void *operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, size_t(alignment));
}
void *operator new[](size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, size_t(alignment));
}

// The C library knows the size and the alignment of what it frees. The forms
// for std::nothrow_t stay those of the library that has them.
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void *memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
