//===- ReadFile.h - opening files to read -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Where a file is meant, only regular files are opened: opening a FIFO waits
/// for a writer, and a device may never end. Where the user can mean a stream,
/// `-` and what the shell calls /dev/stdin or /dev/fd/N are read up to a limit.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_READFILE_H
#define ANEC_LIB_SUPPORT_READFILE_H

#include "llvm/Support/MemoryBuffer.h"

namespace anec {

/// Opens the regular file `path`. Returns its descriptor, or -1 with the reason
/// in `error`. A pointer of Git LFS is an error.
int openRegularFile(llvm::StringRef path, std::string &error);
/// The same for the entry `name` of the folder with this descriptor. A link is
/// an error.
int openRegularFileIn(int folder, llvm::StringRef name, std::string &error);

/// Whether Git LFS left a pointer in place of the file `path`, which cannot be
/// opened then.
bool isLfsPointer(llvm::StringRef path);

/// Reads the regular file `path` as text, which a NUL follows. Returns null,
/// with the reason in `error`, on failure.
std::unique_ptr<llvm::MemoryBuffer> readText(llvm::StringRef path,
                                             std::string &error);
/// The same for the entry `name` of the folder with this descriptor. A link is
/// an error. `path` is its name in messages.
std::unique_ptr<llvm::MemoryBuffer> readTextIn(int folder, llvm::StringRef name,
                                               llvm::StringRef path,
                                               std::string &error);
/// Whether `path`, which the user gave, means a stream: `-`, /dev/stdin.
bool isStreamPath(llvm::StringRef path);
/// Opens a regular file or a stream that the user named; its end may never
/// come. Returns -1, with the reason in `error`, on failure.
int openInput(llvm::StringRef path, std::string &error);
/// The same as `readText` for a path that the user gave, which can be a stream.
std::unique_ptr<llvm::MemoryBuffer> readInput(llvm::StringRef path,
                                              std::string &error);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_READFILE_H
