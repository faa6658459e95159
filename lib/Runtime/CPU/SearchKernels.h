//===- SearchKernels.h - Finding elements of a row --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Finds elements by comparing vectors. A part of VectorKernelsBody.h; see
/// Lanes.h for what may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_SEARCHKERNELS_H
#define ANEC_RUNTIME_CPU_SEARCHKERNELS_H

#include "Lanes.h"

namespace anec::cpu {
namespace {

template <bool ascending>
size_t firstBeforeBy(size_t n, const float *x, Floats last) {
  auto isBefore = [=](Floats value) ANEC_INLINE_LAMBDA {
    return ascending ? ~(value >= last) : ~(value <= last);
  };
  size_t i = 0;
  while (i + 4 * width <= n &&
         !any(isBefore(load(x + i)) | isBefore(load(x + i + width)) |
              isBefore(load(x + i + 2 * width)) |
              isBefore(load(x + i + 3 * width))))
    i += 4 * width;
  while (i < n && (ascending ? x[i] >= last[0] : x[i] <= last[0]))
    ++i;
  return i;
}

size_t firstBeforeKernel(size_t n, const float *x, float last, bool ascending) {
  return ascending ? firstBeforeBy<true>(n, x, splat(last))
                   : firstBeforeBy<false>(n, x, splat(last));
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_SEARCHKERNELS_H
