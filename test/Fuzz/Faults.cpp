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
///   ANEC_FAULT_COUNT=FILE   writes the number of calls of each kind there at
///   the end ANEC_FAULT_ARMED=0      counts nothing before anec_faults_arm() is
///   called
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
  Size,
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
    {"memory", ENOMEM},   {"open", EMFILE},        {"read", EIO},
    {"write", ENOSPC},    {"short-read", 0},       {"short-write", 0},
    {"interrupt", EINTR}, {"size", ENOSPC},        {"sync", EIO},
    {"rename", EACCES},   {"make-folder", ENOSPC}, {"map", ENOMEM},
    {"lock", ENOLCK},     {"thread", EAGAIN},
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

void *allocate(size_t size, size_t alignment) {
  if (size >= large && fails(Memory))
    return nullptr;
  if (alignment) {
    static auto *aligned = next<void *(size_t, size_t)>("aligned_alloc");
    return aligned(alignment, size);
  }
  static auto *plain = next<void *(size_t)>("malloc");
  return plain(size);
}

} // namespace

extern "C" {

void _exit(int code) {
  static auto *real = next<void(int)>("_exit");
  end();
  real(code);
  __builtin_unreachable();
}

/// From here on calls are counted.
void anec_faults_arm() { armed = true; }

void *malloc(size_t size) { return allocate(size, 0); }

void *aligned_alloc(size_t alignment, size_t size) {
  return allocate(size, alignment);
}

void *realloc(void *memory, size_t size) {
  static auto *real = next<void *(void *, size_t)>("realloc");
  return size >= large && fails(Memory) ? nullptr : real(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  static auto *real = next<int(void **, size_t, size_t)>("posix_memalign");
  return size >= large && fails(Memory) ? ENOMEM
                                        : real(memory, alignment, size);
}

int open(const char *path, int flags, ...) {
  static auto *real = next<int(const char *, int, ...)>("open");
  va_list list;
  va_start(list, flags);
  int mode = modeOf(flags, list);
  va_end(list);
  return fails(Open) ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  static auto *real = next<int(const char *, int, ...)>("open64");
  va_list list;
  va_start(list, flags);
  int mode = modeOf(flags, list);
  va_end(list);
  return fails(Open) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  static auto *real = next<int(int, const char *, int, ...)>("openat");
  va_list list;
  va_start(list, flags);
  int mode = modeOf(flags, list);
  va_end(list);
  return fails(Open) ? -1 : real(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
  static auto *real = next<int(int, const char *, int, ...)>("openat64");
  va_list list;
  va_start(list, flags);
  int mode = modeOf(flags, list);
  va_end(list);
  return fails(Open) ? -1 : real(folder, path, flags, mode);
}

ssize_t read(int descriptor, void *bytes, size_t size) {
  static auto *real = next<ssize_t(int, void *, size_t)>("read");
  return failsToMove(Read, ShortRead, descriptor, size)
             ? -1
             : real(descriptor, bytes, size);
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t at) {
  static auto *real = next<ssize_t(int, void *, size_t, off_t)>("pread");
  return failsToMove(Read, ShortRead, descriptor, size)
             ? -1
             : real(descriptor, bytes, size, at);
}

ssize_t pread64(int descriptor, void *bytes, size_t size, off64_t at) {
  static auto *real = next<ssize_t(int, void *, size_t, off64_t)>("pread64");
  return failsToMove(Read, ShortRead, descriptor, size)
             ? -1
             : real(descriptor, bytes, size, at);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
  static auto *real = next<ssize_t(int, const void *, size_t)>("write");
  return failsToMove(Write, ShortWrite, descriptor, size)
             ? -1
             : real(descriptor, bytes, size);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t at) {
  static auto *real = next<ssize_t(int, const void *, size_t, off_t)>("pwrite");
  return failsToMove(Write, ShortWrite, descriptor, size)
             ? -1
             : real(descriptor, bytes, size, at);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t at) {
  static auto *real =
      next<ssize_t(int, const void *, size_t, off64_t)>("pwrite64");
  return failsToMove(Write, ShortWrite, descriptor, size)
             ? -1
             : real(descriptor, bytes, size, at);
}

int ftruncate(int descriptor, off_t size) {
  static auto *real = next<int(int, off_t)>("ftruncate");
  return fails(Size) ? -1 : real(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
  static auto *real = next<int(int, off64_t)>("ftruncate64");
  return fails(Size) ? -1 : real(descriptor, size);
}

int fsync(int descriptor) {
  static auto *real = next<int(int)>("fsync");
  return fails(Sync) ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  static auto *real = next<int(int)>("fdatasync");
  return fails(Sync) ? -1 : real(descriptor);
}

int rename(const char *from, const char *to) {
  static auto *real = next<int(const char *, const char *)>("rename");
  return fails(Rename) ? -1 : real(from, to);
}

int renameat(int folder, const char *from, int other, const char *to) {
  static auto *real =
      next<int(int, const char *, int, const char *)>("renameat");
  return fails(Rename) ? -1 : real(folder, from, other, to);
}

int renameat2(int folder, const char *from, int other, const char *to,
              unsigned flags) {
  static auto *real =
      next<int(int, const char *, int, const char *, unsigned)>("renameat2");
  return fails(Rename) ? -1 : real(folder, from, other, to, flags);
}

int mkdir(const char *path, mode_t mode) {
  static auto *real = next<int(const char *, mode_t)>("mkdir");
  return fails(MakeFolder) ? -1 : real(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
  static auto *real = next<int(int, const char *, mode_t)>("mkdirat");
  return fails(MakeFolder) ? -1 : real(folder, path, mode);
}

void *mmap(void *place, size_t size, int protection, int flags, int descriptor,
           off_t at) {
  static auto *real =
      next<void *(void *, size_t, int, int, int, off_t)>("mmap");
  return descriptor >= 0 && fails(Map)
             ? MAP_FAILED
             : real(place, size, protection, flags, descriptor, at);
}

void *mmap64(void *place, size_t size, int protection, int flags,
             int descriptor, off64_t at) {
  static auto *real =
      next<void *(void *, size_t, int, int, int, off64_t)>("mmap64");
  return descriptor >= 0 && fails(Map)
             ? MAP_FAILED
             : real(place, size, protection, flags, descriptor, at);
}

int flock(int descriptor, int operation) {
  static auto *real = next<int(int, int)>("flock");
  return fails(Lock) ? -1 : real(descriptor, operation);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*body)(void *), void *argument) {
  static auto *real =
      next<int(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)>(
          "pthread_create");
  return fails(Thread) ? EAGAIN : real(thread, attributes, body, argument);
}

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
