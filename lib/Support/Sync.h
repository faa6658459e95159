//===- Sync.h - files that survive a power failure --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Waits until the bytes of a file, or the names in a folder, are where a power
/// failure does not take them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_SYNC_H
#define ANEC_LIB_SUPPORT_SYNC_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// Syncs a descriptor of a file or folder. Returns 0, or the error.
///
/// On macOS fsync only hands the bytes to the disk, which may keep them in its
/// own memory; F_FULLFSYNC waits for the disk too. Elsewhere fsync does.
[[nodiscard]] int syncToDisk(int descriptor);

/// The same with given functions, which return -1 and set errno as system calls
/// do: `whole`, and where a file system does not have it, `plain`.
[[nodiscard]] int syncToDisk(int descriptor, llvm::function_ref<int(int)> whole,
                             llvm::function_ref<int(int)> plain);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_SYNC_H
