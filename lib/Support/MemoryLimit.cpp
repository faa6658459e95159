//===- MemoryLimit.cpp - how much memory a process can have ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/MemoryLimit.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach/mach.h>
#include <sys/sysctl.h>
#else
#include <sys/sysinfo.h>
#endif

// Files of /proc and /sys are read into arrays on the stack: this also runs
// where no memory is left.

#if defined(__APPLE__)
static uint64_t machineMemory() {
  uint64_t bytes = 0;
  size_t size = sizeof(bytes);
  if (::sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) != 0)
    return UINT64_MAX;
  // What does not fit is compressed and swapped, on volumes of any size.
  return bytes > UINT64_MAX / 2 ? bytes : 2 * bytes;
}

static uint64_t groupLimit() { return UINT64_MAX; }

static uint64_t memoryInUse() {
  mach_task_basic_info info = {};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  if (::task_info(mach_task_self(), MACH_TASK_BASIC_INFO,
                  reinterpret_cast<task_info_t>(&info), &count) != KERN_SUCCESS)
    return 0;
  return info.resident_size;
}
#else
static uint64_t machineMemory() {
  struct sysinfo info = {};
  if (::sysinfo(&info) != 0)
    return UINT64_MAX;
  return (uint64_t(info.totalram) + info.totalswap) * info.mem_unit;
}

/// The number in a file; the largest where there is none, as in `max`.
static uint64_t numberIn(const char *path) {
  unsigned long long number = UINT64_MAX;
  if (std::FILE *file = std::fopen(path, "re")) {
    if (std::fscanf(file, "%llu", &number) != 1)
      number = UINT64_MAX;
    std::fclose(file);
  }
  return number;
}

/// The least limit of the group `name`, such as `/user.slice/run`, and of those
/// that hold it. `root` is where the hierarchy is mounted.
static uint64_t limitOf(const char *root, const char *name, const char *file) {
  uint64_t least = UINT64_MAX;
  char group[512], path[1024];
  std::snprintf(group, sizeof(group), "%s", name);
  while (true) {
    std::snprintf(path, sizeof(path), "%s%s/%s", root, group, file);
    least = std::min(least, numberIn(path));
    char *last = std::strrchr(group, '/');
    if (!last)
      return least;
    *last = 0;
  }
}

static uint64_t groupLimit() {
  uint64_t least = UINT64_MAX;
  std::FILE *file = std::fopen("/proc/self/cgroup", "re");
  if (!file)
    return least;
  char line[512];
  while (std::fgets(line, sizeof(line), file)) {
    line[std::strcspn(line, "\n")] = 0;
    // number:controllers:name; version 2 has the number 0 and no controllers.
    char *controllers = std::strchr(line, ':');
    char *name = controllers ? std::strchr(controllers + 1, ':') : nullptr;
    if (!name)
      continue;
    *name++ = 0;
    ++controllers;
    if (!*controllers)
      least = std::min(least, limitOf("/sys/fs/cgroup", name, "memory.max"));
    else if (std::strcmp(controllers, "memory") == 0)
      least = std::min(least, limitOf("/sys/fs/cgroup/memory", name,
                                      "memory.limit_in_bytes"));
  }
  std::fclose(file);
  return least;
}

static uint64_t memoryInUse() {
  unsigned long long all = 0, resident = 0, mapped = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu %llu %llu", &all, &resident, &mapped) != 3)
      resident = mapped = 0;
    std::fclose(file);
  }
  uint64_t pages = resident > mapped ? resident - mapped : 0;
  return pages * uint64_t(::sysconf(_SC_PAGESIZE));
}
#endif

static uint64_t resourceLimit(int which) {
  struct rlimit limit = {};
  if (::getrlimit(decltype(RLIMIT_AS)(which), &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return UINT64_MAX;
  return limit.rlim_cur;
}

uint64_t anec::addressLimit() {
  return std::min(resourceLimit(RLIMIT_AS), resourceLimit(RLIMIT_DATA));
}

uint64_t anec::memoryLimit() {
  static const uint64_t machine = std::min(machineMemory(), groupLimit());
  return std::min(machine, addressLimit());
}

bool anec::hasMemoryFor(uint64_t bytes) {
  uint64_t limit = memoryLimit();
  return bytes <= limit && memoryInUse() <= limit - bytes;
}
