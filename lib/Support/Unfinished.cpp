//===- Unfinished.cpp - what a signal must remove -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Unfinished.h"
#include "llvm/ADT/Twine.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <sys/attr.h>
#endif

using namespace anec;

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

/// Entries are never freed, so that a handler can follow the list at any time.
struct Unfinished::Entry {
  std::atomic<char *> path{nullptr}; ///< null when the entry is free
  Entry *next = nullptr;
};

namespace {
struct UnfinishedList {
  std::atomic<void *> first{nullptr};
  std::mutex changes;
  /// The process that the list belongs to: a child must not remove the files of
  /// its parent.
  std::atomic<pid_t> owner{0};
  std::atomic<bool> isEnding{false};
};
} // namespace

static UnfinishedList list;
static_assert(std::atomic<char *>::is_always_lock_free &&
              std::atomic<pid_t>::is_always_lock_free);

Unfinished::Entry *Unfinished::entries() {
  return static_cast<Entry *>(list.first.load());
}

Unfinished::Unfinished(llvm::StringRef path) {
  char *copy = ::strdup(path.str().c_str());
  std::lock_guard<std::mutex> lock(list.changes);
  if (pid_t process = ::getpid(); list.owner != process) {
    for (Entry *inherited = entries(); inherited; inherited = inherited->next)
      inherited->path = nullptr;
    list.owner = process;
  }
  for (entry = entries(); entry; entry = entry->next)
    if (!entry->path)
      break;
  if (!entry) {
    entry = new Entry;
    entry->next = entries();
    entry->path = copy;
    list.first = entry;
  } else {
    entry->path = copy;
  }
}

void Unfinished::finish() {
  if (!entry)
    return;
  {
    std::lock_guard<std::mutex> lock(list.changes);
    char *path = std::exchange(entry, nullptr)->path.exchange(nullptr);
    // The handler may be reading it.
    if (!list.isEnding)
      ::free(path);
  }
  // The caller would report an error.
  while (list.isEnding)
    ::pause();
}

bool anec::isInUnfinished(llvm::StringRef path) {
  std::lock_guard<std::mutex> lock(list.changes);
  for (Unfinished::Entry *entry = Unfinished::entries(); entry;
       entry = entry->next)
    if (const char *folder = entry->path)
      if (llvm::StringRef rest = path;
          rest.consume_front(folder) && rest.starts_with("/"))
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Removal in a signal handler
//===----------------------------------------------------------------------===//

/// Calls `visit` with names in the open folder, except `.` and `..`, without
/// readdir, which allocates.
template <typename Fn>
static void visitSome(int folder, Fn visit) {
  alignas(8) char buffer[2048];
#if defined(__linux__)
  // The kernel's linux_dirent64: an inode and an offset of 8 bytes each, the
  // length of the entry in 2 bytes, the type in 1, and the name.
  long size = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer);
  for (long at = 0; at < size;) {
    unsigned short length = 0;
    std::memcpy(&length, buffer + at + 16, sizeof length);
    const char *name = buffer + at + 19;
    if (std::strcmp(name, ".") && std::strcmp(name, ".."))
      visit(name);
    at += length;
  }
#elif defined(__APPLE__)
  attrlist wanted = {};
  wanted.bitmapcount = ATTR_BIT_MAP_COUNT;
  wanted.commonattr = ATTR_CMN_RETURNED_ATTRS | ATTR_CMN_NAME;
  int count = ::getattrlistbulk(folder, &wanted, buffer, sizeof buffer, 0);
  const char *entry = buffer;
  for (int i = 0; i < count; ++i) {
    uint32_t length = 0;
    std::memcpy(&length, entry, sizeof length);
    const char *reference = entry + sizeof length + sizeof(attribute_set_t);
    attrreference_t name;
    std::memcpy(&name, reference, sizeof name);
    visit(reference + name.attr_dataoffset);
    entry += length;
  }
#endif
}

/// Removes a file or a folder. Other threads may add files meanwhile.
static bool removeAt(int parent, const char *name, unsigned depth = 0) {
  if (!::unlinkat(parent, name, 0))
    return true;
  if (errno == ENOENT || depth == 8)
    return false;
  int folder = -1;
  bool removedSome = true;
  while (removedSome) {
    if (!::unlinkat(parent, name, AT_REMOVEDIR))
      return true;
    // Opened again each time, to read from its start.
    folder =
        ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
      return false;
    removedSome = false;
    visitSome(folder, [&](const char *inner) {
      removedSome |= removeAt(folder, inner, depth + 1);
    });
    ::close(folder);
  }
  return !::unlinkat(parent, name, AT_REMOVEDIR);
}

void anec::removeUnfinished() {
  if (list.owner != ::getpid())
    return;
  list.isEnding = true;
  for (Unfinished::Entry *entry = Unfinished::entries(); entry;
       entry = entry->next)
    if (const char *path = entry->path)
      (void)removeAt(AT_FDCWD, path);
}
