//===- Sync.cpp - files that survive a power failure ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Sync.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace anec;

/// Calls `sync` until no signal interrupts it. Returns 0, or the error.
static int untilDone(int descriptor, llvm::function_ref<int(int)> sync) {
  for (;;) {
    if (sync(descriptor) != -1)
      return 0;
    if (errno != EINTR)
      return errno;
  }
}

int anec::syncToDisk(int descriptor, llvm::function_ref<int(int)> whole,
                     llvm::function_ref<int(int)> plain) {
  int error = untilDone(descriptor, whole);
  // What file systems of networks and of other systems answer.
  if (error == ENOTSUP || error == ENOTTY || error == EINVAL)
    error = untilDone(descriptor, plain);
  return error;
}

int anec::syncToDisk(int descriptor) {
#if defined(F_FULLFSYNC)
  return syncToDisk(
      descriptor, [](int file) { return ::fcntl(file, F_FULLFSYNC); }, ::fsync);
#else
  return untilDone(descriptor, ::fsync);
#endif
}
