//===- MappedRanges.cpp - which file is at an address ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/MappedRanges.h"
#include <atomic>
#include <mutex>

using namespace anec;

namespace {

/// A mapped file. Entries are never freed, so that a handler can follow the
/// list at any time, and used again for other files.
struct Entry {
  std::atomic<const char *> begin{nullptr}; ///< null when the entry is free
  size_t size = 0;
  std::string path;
  Entry *next = nullptr;
};

struct MappedRanges {
  std::atomic<Entry *> first{nullptr};
  std::mutex changes;
};

} // namespace

static MappedRanges ranges;
static_assert(std::atomic<const char *>::is_always_lock_free);

static Entry *add(const llvm::MemoryBuffer &buffer, llvm::StringRef path) {
  std::lock_guard<std::mutex> lock(ranges.changes);
  Entry *entry = ranges.first;
  while (entry && entry->begin)
    entry = entry->next;
  bool isNew = !entry;
  if (isNew)
    entry = new Entry;
  entry->path = path.str();
  entry->size = buffer.getBufferSize();
  entry->begin = buffer.getBufferStart();
  if (isNew) {
    entry->next = ranges.first;
    ranges.first = entry;
  }
  return entry;
}

MappedFile anec::shareMapping(std::unique_ptr<llvm::MemoryBuffer> buffer,
                              llvm::StringRef path) {
  if (buffer->getBufferKind() != llvm::MemoryBuffer::MemoryBuffer_MMap)
    return buffer;
  Entry *entry = add(*buffer, path);
  return {buffer.release(), [entry](const llvm::MemoryBuffer *mapped) {
            {
              std::lock_guard<std::mutex> lock(ranges.changes);
              entry->begin = nullptr;
            }
            delete mapped;
          }};
}

MappedRange anec::mappedFileAt(const void *address) {
  const char *at = static_cast<const char *>(address);
  for (Entry *entry = ranges.first; entry; entry = entry->next) {
    const char *begin = entry->begin;
    if (begin && at >= begin && size_t(at - begin) < entry->size)
      return {entry->path.c_str(), entry->size};
  }
  return {};
}
