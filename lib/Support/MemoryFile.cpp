//===- MemoryFile.cpp - a file in memory ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/MemoryFile.h"
#include "lib/Support/MemoryLimit.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

using namespace anec;
using llvm::sys::Memory;

namespace {

using Block = llvm::sys::OwningMemoryBlock;

/// The contents of a file that was written in memory.
class WrittenBuffer final : public llvm::MemoryBuffer {
public:
  WrittenBuffer(std::unique_ptr<const Block> written, size_t size,
                llvm::StringRef name)
      : block(std::move(written)), name(name) {
    const char *begin =
        size ? static_cast<const char *>(block->base()) : this->name.c_str();
    init(begin, begin + size, /*RequiresNullTerminator=*/false);
  }
  BufferKind getBufferKind() const override { return MemoryBuffer_Malloc; }
  llvm::StringRef getBufferIdentifier() const override { return name; }

private:
  std::unique_ptr<const Block> block;
  std::string name;
};

} // namespace

/// Moves what is written to a block of at least `size` bytes.
int MemoryFile::grow(uint64_t size) {
  if (size <= capacity())
    return 0;
  // Linux would grant it, and end the process where it is written.
  constexpr uint64_t large = 1 << 24;
  if (size > SIZE_MAX / 2 || (size > large && !hasMemoryFor(size - end)))
    return ENOMEM;
  std::error_code code;
  auto larger = std::make_unique<Block>(Memory::allocateMappedMemory(
      size_t(size), nullptr, Memory::MF_READ | Memory::MF_WRITE, code));
  if (code)
    return code.value();
  if (end)
    std::memcpy(larger->base(), block->base(), size_t(end));
  block = std::move(larger);
  return 0;
}

int MemoryFile::reserve(uint64_t size) {
  std::unique_lock<std::shared_mutex> lock(growing);
  return grow(size);
}

int MemoryFile::write(uint64_t offset, const void *bytes, size_t size) {
  if (!size)
    return 0;
  if (offset > UINT64_MAX - size)
    return EFBIG;
  uint64_t after = offset + size;
  std::shared_lock<std::shared_mutex> lock(growing);
  while (after > capacity()) {
    lock.unlock();
    {
      constexpr uint64_t least = 1 << 16;
      std::unique_lock<std::shared_mutex> alone(growing);
      if (int code = grow(std::max({after, 2 * capacity(), least})))
        return code;
    }
    lock.lock();
  }
  std::memcpy(static_cast<char *>(block->base()) + offset, bytes, size);
  uint64_t known = end;
  while (known < after && !end.compare_exchange_weak(known, after)) {
  }
  return 0;
}

MappedFile MemoryFile::share(llvm::StringRef name) {
  return std::make_shared<const WrittenBuffer>(std::move(block),
                                               size_t(end.exchange(0)), name);
}
