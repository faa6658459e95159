//===- PeakMemory.h - memory of the process ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_PEAKMEMORY_H
#define ANEC_LIB_SUPPORT_PEAKMEMORY_H

#include <cstdint>

namespace anec {

/// The most bytes of memory that the process has held so far, including pages
/// of mapped files.
uint64_t peakMemoryBytes();

} // namespace anec

#endif // ANEC_LIB_SUPPORT_PEAKMEMORY_H
