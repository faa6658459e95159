//===- MemoryLimit.h - how much memory a process can have -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Linux grants memory that it does not have, and ends a process that uses it.
/// An allocation whose size comes from a shape or a file asks here first.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_MEMORYLIMIT_H
#define ANEC_LIB_SUPPORT_MEMORYLIMIT_H

#include <cstdint>

namespace anec {

/// The most bytes of memory that the process can have: the least of the
/// machine's memory with swap, the limits of its control groups (Linux), and
/// RLIMIT_AS and RLIMIT_DATA. The first two are read once.
uint64_t memoryLimit();

/// The most bytes of addresses that the process can have: RLIMIT_AS and
/// RLIMIT_DATA; UINT64_MAX without a limit.
uint64_t addressLimit();

/// Whether `bytes` more are within the limit, beside what the process has in
/// memory now; pages of mapped files do not count.
bool hasMemoryFor(uint64_t bytes);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_MEMORYLIMIT_H
