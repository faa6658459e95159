//===- Moments.h - mean and variance of a row -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_MOMENTS_H
#define ANEC_LIB_RUNTIME_CPU_MOMENTS_H

#include <cstddef>

namespace anec::cpu {

/// The mean of \p n elements, and the mean of the squares of their distances
/// from it, in double precision. \p n is not 0.
void moments(size_t n, const float *x, double *mean, double *variance);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_MOMENTS_H
