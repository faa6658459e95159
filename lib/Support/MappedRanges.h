//===- MappedRanges.h - which file is at an address -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A list of the mapped files. A file that becomes shorter while it is mapped
/// raises SIGBUS where it is read; a program that handles it, which the tools
/// do, finds the file by the address. The library does not handle signals.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_MAPPEDRANGES_H
#define ANEC_LIB_SUPPORT_MAPPEDRANGES_H

#include "anec/Support/MappedFile.h"

namespace anec {

/// Shares `buffer`, the contents of the file `path`, which is on the list for
/// as long as anybody uses it, if it is mapped.
MappedFile shareMapping(std::unique_ptr<llvm::MemoryBuffer> buffer,
                        llvm::StringRef path);

struct MappedRange {
  const char *path = nullptr; ///< null for none
  size_t size = 0;
};
/// The mapped file at `address`. Can be called in a signal handler.
MappedRange mappedFileAt(const void *address);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_MAPPEDRANGES_H
