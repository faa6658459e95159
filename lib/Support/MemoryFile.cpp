//===- MemoryFile.cpp - a file in memory ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/MemoryFile.h"
#include "lib/Support/MemoryLimit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

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

/// Takes `size` bytes of the disk for the file, so that writing to its mapping
/// cannot fail later. Returns the error as `errno`, or 0.
static int takeSpace(int descriptor, uint64_t size) {
#if defined(__APPLE__)
  fstore_t wanted = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, off_t(size), 0};
  if (::fcntl(descriptor, F_PREALLOCATE, &wanted) == -1)
    return errno;
  return ::ftruncate(descriptor, off_t(size)) == 0 ? 0 : errno;
#else
  return ::posix_fallocate(descriptor, 0, off_t(size));
#endif
}

/// A block of zeros in a file that has no name, and goes with the block: its
/// pages need not stay in memory. Null with the error as `errno` in `code`.
static std::unique_ptr<const Block> allocateOnDisk(size_t size, int &code) {
  int descriptor = -1;
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "anec", "weights", descriptor, path)) {
    code = error.value();
    return nullptr;
  }
  (void)llvm::sys::fs::remove(path);
  code = takeSpace(descriptor, size);
  void *pages = MAP_FAILED;
  if (!code) {
    pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                   descriptor, 0);
    code = pages == MAP_FAILED ? errno : 0;
  }
  (void)::close(descriptor);
  return code ? nullptr
              : std::make_unique<const Block>(
                    llvm::sys::MemoryBlock(pages, size));
}

/// A block of zeros. Null with the error as `errno` in `code`.
static std::unique_ptr<const Block> allocate(size_t size, int &code) {
  std::error_code error;
  auto block = std::make_unique<const Block>(Memory::allocateMappedMemory(
      size, nullptr, Memory::MF_READ | Memory::MF_WRITE, error));
  code = error.value();
  return code ? nullptr : std::move(block);
}

/// Moves what is written to a block of at least `size` bytes: on the disk where
/// memory does not suffice, which Linux would grant, and end the process where
/// it is written.
int MemoryFile::grow(uint64_t size) {
  if (size <= capacity())
    return 0;
  if (size > SIZE_MAX / 2)
    return ENOMEM;
  constexpr uint64_t large = 1 << 20;
  int code = 0;
  std::unique_ptr<const Block> larger =
      size > large && !hasMemoryFor(std::max<uint64_t>(size - end, end))
          ? allocateOnDisk(size_t(size), code)
          : allocate(size_t(size), code);
  if (!larger)
    return code;
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
