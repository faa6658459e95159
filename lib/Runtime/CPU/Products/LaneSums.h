//===- LaneSums.h - The sums of vectors ----------------------------- -*- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Adds the elements of vectors. See Lanes.h for what may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_LANESUMS_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_LANESUMS_H

#include "../Lanes.h"

namespace anec::cpu {
namespace {

using Four = float __attribute__((vector_size(16)));

ANEC_INLINE Four foldToFour(Floats x) {
#if defined(__AVX512F__)
  __m256 half = _mm256_add_ps(_mm512_maskz_extractf32x8_ps(0xff, (__m512)x, 0),
                              _mm512_maskz_extractf32x8_ps(0xff, (__m512)x, 1));
  return (Four)_mm_add_ps(_mm256_castps256_ps128(half),
                          _mm256_extractf128_ps(half, 1));
#elif defined(__AVX2__)
  return (Four)_mm_add_ps(_mm256_castps256_ps128((__m256)x),
                          _mm256_extractf128_ps((__m256)x, 1));
#else
  return (Four)x;
#endif
}

/// The sums of the elements of `count` vectors, 1, 2 or 4, each added in the
/// same order.
template <size_t count>
ANEC_INLINE void addLanes(const Floats *vectors, float *sums) {
  Four x[count];
  for (size_t i = 0; i < count; ++i)
    x[i] = foldToFour(vectors[i]);
#if defined(__x86_64__)
  if constexpr (count == 4) {
    __m128 a = (__m128)x[0], b = (__m128)x[1], c = (__m128)x[2],
           d = (__m128)x[3];
    __m128 ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
    __m128 cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
    _mm_storeu_ps(sums,
                  _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab)));
    return;
  }
#endif
  for (size_t i = 0; i < count; ++i)
    sums[i] = (x[i][0] + x[i][2]) + (x[i][1] + x[i][3]);
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_LANESUMS_H
