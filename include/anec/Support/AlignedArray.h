//===- AlignedArray.h - cache-line aligned floats ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Uninitialized floats that start on a cache line, so that whole vectors never
/// straddle two lines, and no time is spent on clearing them.
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_ALIGNEDARRAY_H
#define ANEC_SUPPORT_ALIGNEDARRAY_H

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace anec {

struct AlignedDelete {
  void operator()(float *array) const { std::free(array); }
};

/// Owns floats aligned to 64 bytes.
using AlignedArray = std::unique_ptr<float[], AlignedDelete>;

/// \p count floats with unspecified values. Large arrays start on a huge page
/// and request huge pages, where the system has them.
AlignedArray makeAlignedArray(size_t count);

} // namespace anec

#endif // ANEC_SUPPORT_ALIGNEDARRAY_H
