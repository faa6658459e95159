//===- Faults.cpp - a library that lets calls of the system fail ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// Loaded by LD_PRELOAD, it takes the place of functions of the C library. The
/// N-th call of one kind fails, once or from then on; all others do what they
/// always do.
///
///   ANEC_FAULT_KIND=KIND    the first word of a row of `kinds`
///   ANEC_FAULT_AT=N         the first call that fails, from 1; absent: none
///   ANEC_FAULT_FOREVER=1    all later calls fail too
///   ANEC_FAULT_COUNT=FILE   at the end, the number of calls of each kind is
///                           written there
///   ANEC_FAULT_ARMED=0      no call counts before anec_faults_arm(true)
///
/// Calls that only diagnostics make (writing to standard error) never fail, nor
/// do those that remove things: what a process cannot remove, it leaves. glibc
/// only.
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

enum Kind : unsigned {
  Memory,
  Open,
  Read,
  Write,
  ShortRead,
  ShortWrite,
  Interrupt,
  Sync,
  Rename,
  MakeFolder,
  Map,
  Lock,
  Thread,
  numKinds
};

struct {
  const char *name;
  int error;
} constexpr kinds[numKinds] = {
    {"memory", ENOMEM},      {"open", EMFILE},  {"read", EIO},
    {"write", ENOSPC},       {"short-read", 0}, {"short-write", 0},
    {"interrupt", EINTR},    {"sync", EIO},     {"rename", EACCES},
    {"make-folder", ENOSPC}, {"map", ENOMEM},   {"lock", ENOLCK},
    {"thread", EAGAIN},
};

/// The allocations of kind `memory`: smaller ones may end a process
/// (SECURITY.md).
constexpr size_t large = size_t(1) << 20;

std::atomic<unsigned> counts[numKinds];
std::atomic<bool> armed{false};
Kind chosen = numKinds;
unsigned first = 0;
bool forever = false;
const char *countFile = nullptr;

/// Counts a call; true when it is to fail, with `errno`.
bool fails(Kind kind) {
  if (!armed.load(std::memory_order_relaxed))
    return false;
  unsigned number = ++counts[kind];
  if (kind != chosen || first == 0 ||
      (forever ? number < first : number != first))
    return false;
  errno = kinds[kind].error;
  return true;
}

/// The function whose place this library takes.
template <typename Function>
Function *next(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

void writeCounts() {
  FILE *file = countFile ? fopen(countFile, "w") : nullptr;
  if (!file)
    return;
  for (unsigned kind = 0; kind < numKinds; ++kind)
    fprintf(file, "%s %u\n", kinds[kind].name, counts[kind].load());
  fclose(file);
}

__attribute__((constructor)) void readSettings() {
  const char *kind = getenv("ANEC_FAULT_KIND"), *at = getenv("ANEC_FAULT_AT");
  for (unsigned i = 0; kind && i < numKinds; ++i)
    if (strcmp(kinds[i].name, kind) == 0)
      chosen = Kind(i);
  first = at ? unsigned(strtoul(at, nullptr, 10)) : 0;
  forever = getenv("ANEC_FAULT_FOREVER") != nullptr;
  countFile = getenv("ANEC_FAULT_COUNT");
  const char *start = getenv("ANEC_FAULT_ARMED");
  armed = !start || strcmp(start, "0") != 0;
}

__attribute__((destructor)) void end() {
  armed = false;
  writeCounts();
}

int modeOf(int flags, va_list list) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
}

/// What a read or write of `size` bytes at `descriptor` does: fails with
/// `errno` (returns true), or moves fewer bytes.
bool failsToMove(Kind failure, Kind cut, int descriptor, size_t &size) {
  if (descriptor == STDERR_FILENO)
    return false;
  if (fails(failure) || fails(Interrupt))
    return true;
  if (size > 1 && fails(cut))
    size /= 2;
  return false;
}

} // namespace

//===----------------------------------------------------------------------===//
// The functions: a row each
//===----------------------------------------------------------------------===//

/// Defines `name`, which has its value from `body`, where `real` is the
/// function whose place it takes.
#define FUNCTION(result, name, parameters, types, ...)                         \
  result name parameters {                                                     \
    static auto *real = next<result types>(#name);                             \
    __VA_ARGS__                                                                \
  }

/// A call that fails by returning `failure`.
#define CALL(result, name, parameters, types, values, kind, failure)           \
  FUNCTION(result, name, parameters, types,                                    \
           return fails(kind) ? failure : real values;)

/// Allocates `size` bytes; only large ones fail.
#define ALLOCATION(result, name, parameters, types, values, failure)           \
  FUNCTION(result, name, parameters, types,                                    \
           return size >= large && fails(Memory) ? failure : real values;)

#define READ(name, parameters, types, values)                                  \
  FUNCTION(ssize_t, name, parameters, types,                                   \
           return failsToMove(Read, ShortRead, descriptor, size)               \
                      ? -1                                                     \
                      : real values;)

#define WRITE(name, parameters, types, values)                                 \
  FUNCTION(ssize_t, name, parameters, types,                                   \
           return failsToMove(Write, ShortWrite, descriptor, size)             \
                      ? -1                                                     \
                      : real values;)

/// Memory without a file is the allocators'.
#define MAPPING(name, offset)                                                  \
  FUNCTION(void *, name,                                                       \
           (void *place, size_t size, int protection, int flags,               \
            int descriptor, offset at),                                        \
           (void *, size_t, int, int, int, offset),                            \
           return descriptor >= 0 && fails(Map)                                \
                      ? MAP_FAILED                                             \
                      : real(place, size, protection, flags, descriptor, at);)

/// The mode is there only for flags that create a file.
#define OPENING(name, parameters, types, ...)                                  \
  FUNCTION(int, name, parameters, types, va_list list; va_start(list, flags);  \
           int mode = modeOf(flags, list); va_end(list);                       \
           return fails(Open) ? -1 : real(__VA_ARGS__, flags, mode);)

extern "C" {

/// Whether calls count from here on, for a program that holds the library.
void anec_faults_arm(int isArmed) { armed = isArmed != 0; }

FUNCTION(void, _exit, (int code), (int), end(); real(code);
         __builtin_unreachable();)

// clang-format off
ALLOCATION(void *, malloc, (size_t size), (size_t), (size), nullptr)
ALLOCATION(void *, realloc, (void *memory, size_t size), (void *, size_t), (memory, size), nullptr)
ALLOCATION(void *, aligned_alloc, (size_t alignment, size_t size), (size_t, size_t), (alignment, size), nullptr)
ALLOCATION(int, posix_memalign, (void **memory, size_t alignment, size_t size), (void **, size_t, size_t), (memory, alignment, size), ENOMEM)

OPENING(open, (const char *path, int flags, ...), (const char *, int, ...), path)
OPENING(open64, (const char *path, int flags, ...), (const char *, int, ...), path)
OPENING(openat, (int folder, const char *path, int flags, ...), (int, const char *, int, ...), folder, path)
OPENING(openat64, (int folder, const char *path, int flags, ...), (int, const char *, int, ...), folder, path)

READ(read, (int descriptor, void *bytes, size_t size), (int, void *, size_t), (descriptor, bytes, size))
READ(pread, (int descriptor, void *bytes, size_t size, off_t at), (int, void *, size_t, off_t), (descriptor, bytes, size, at))
READ(pread64, (int descriptor, void *bytes, size_t size, off64_t at), (int, void *, size_t, off64_t), (descriptor, bytes, size, at))
WRITE(write, (int descriptor, const void *bytes, size_t size), (int, const void *, size_t), (descriptor, bytes, size))
WRITE(pwrite, (int descriptor, const void *bytes, size_t size, off_t at), (int, const void *, size_t, off_t), (descriptor, bytes, size, at))
WRITE(pwrite64, (int descriptor, const void *bytes, size_t size, off64_t at), (int, const void *, size_t, off64_t), (descriptor, bytes, size, at))
CALL(int, fsync, (int descriptor), (int), (descriptor), Sync, -1)
CALL(int, fdatasync, (int descriptor), (int), (descriptor), Sync, -1)
CALL(int, flock, (int descriptor, int operation), (int, int), (descriptor, operation), Lock, -1)

CALL(int, rename, (const char *from, const char *to), (const char *, const char *), (from, to), Rename, -1)
CALL(int, renameat, (int folder, const char *from, int other, const char *to), (int, const char *, int, const char *), (folder, from, other, to), Rename, -1)
CALL(int, renameat2, (int folder, const char *from, int other, const char *to, unsigned flags), (int, const char *, int, const char *, unsigned), (folder, from, other, to, flags), Rename, -1)
CALL(int, mkdir, (const char *path, mode_t mode), (const char *, mode_t), (path, mode), MakeFolder, -1)
CALL(int, mkdirat, (int folder, const char *path, mode_t mode), (int, const char *, mode_t), (folder, path, mode), MakeFolder, -1)

MAPPING(mmap, off_t)
MAPPING(mmap64, off64_t)
CALL(int, pthread_create, (pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument), (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), (thread, attributes, body, argument), Thread, EAGAIN)
// clang-format on

} // extern "C"

// operator new of the C++ library would call malloc, but an allocator of the
// program's own has both.
void *operator new(size_t size) {
  static auto *real = next<void *(size_t)>("_Znwm");
  if (size >= large && fails(Memory))
    throw std::bad_alloc();
  return real(size);
}

void *operator new(size_t size, const std::nothrow_t &tag) noexcept {
  static auto *real =
      next<void *(size_t, const std::nothrow_t &)>("_ZnwmRKSt9nothrow_t");
  return size >= large && fails(Memory) ? nullptr : real(size, tag);
}

void *operator new(size_t size, std::align_val_t alignment) {
  static auto *real =
      next<void *(size_t, std::align_val_t)>("_ZnwmSt11align_val_t");
  if (size >= large && fails(Memory))
    throw std::bad_alloc();
  return real(size, alignment);
}
