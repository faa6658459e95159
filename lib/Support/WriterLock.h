//===- WriterLock.h - who still writes a temporary file ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A process holds a lock (flock) on each temporary file and folder that it
/// writes. The system releases it when the process ends, however that happens,
/// and it reaches across containers, where process ids mean something else. So
/// what is not locked was left by a process that was killed.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_WRITERLOCK_H
#define ANEC_LIB_SUPPORT_WRITERLOCK_H

#include "anec/Support/Diagnostics.h"
#include "anec/Support/Folder.h"

namespace anec {

/// Locks what this process has just made as `name` in `folder`, and has open as
/// `descriptor`, until the descriptor and its duplicates are closed. Returns
/// false when another process has found it before it was locked, and removes
/// it. Succeeds where the file system has no locks.
[[nodiscard]] bool lockAsWriter(int descriptor, const Folder &folder,
                                llvm::StringRef name);

/// Whether what `descriptor` has open was left by a process that ended, and
/// `folder` still calls it `name`, which is a temporary name. Then the caller
/// has its lock until the descriptor is closed, and may remove it. It stays
/// where locks do not tell, and a note says so.
[[nodiscard]] bool mayRemoveLeftBehind(const Folder &folder,
                                       llvm::StringRef name, int descriptor,
                                       Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_WRITERLOCK_H
