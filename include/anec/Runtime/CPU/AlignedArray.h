//===- AlignedArray.h - Float storage on cache lines ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Uninitialised floats that begin on a cache line, so that whole vectors never
/// straddle two of them, and that clearing them costs nothing.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_ALIGNEDARRAY_H
#define ANEC_RUNTIME_CPU_ALIGNEDARRAY_H

#include <cstddef>
#include <memory>
#include <new>

namespace anec::cpu {

struct AlignedDelete {
  void operator()(float *array) const {
    ::operator delete[](array, std::align_val_t(64));
  }
};

/// Owns floats at a multiple of 64 bytes.
using AlignedArray = std::unique_ptr<float[], AlignedDelete>;

/// \p count floats with unspecified values.
inline AlignedArray makeAlignedArray(size_t count) {
  return AlignedArray(static_cast<float *>(
      ::operator new[](count * sizeof(float), std::align_val_t(64))));
}

} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_ALIGNEDARRAY_H
