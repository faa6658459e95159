//===- TransposeBlock.h - square blocks, transposed -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Transposes blocks of as many rows as a vector has elements. Lanes.h says why
/// so little is included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_TRANSPOSEBLOCK_H
#define ANEC_LIB_RUNTIME_CPU_TRANSPOSEBLOCK_H

#include "Lanes.h"

namespace anec::cpu {
namespace {

/// Interleaves the first and the second halves of two vectors.
ANEC_INLINE void interleave(Floats a, Floats b, Floats &low, Floats &high) {
#if defined(__AVX512F__)
  const Ints lows = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  const Ints highs = {8,  24, 9,  25, 10, 26, 11, 27,
                      12, 28, 13, 29, 14, 30, 15, 31};
  low = (Floats)_mm512_permutex2var_ps((__m512)a, (__m512i)lows, (__m512)b);
  high = (Floats)_mm512_permutex2var_ps((__m512)a, (__m512i)highs, (__m512)b);
#elif defined(__AVX2__)
  // Within halves first: 0 8 1 9 | 4 12 5 13 and 2 10 3 11 | 6 14 7 15.
  __m256 even = _mm256_unpacklo_ps((__m256)a, (__m256)b);
  __m256 odd = _mm256_unpackhi_ps((__m256)a, (__m256)b);
  low = (Floats)_mm256_permute2f128_ps(even, odd, 0x20);
  high = (Floats)_mm256_permute2f128_ps(even, odd, 0x31);
#else
  low = Floats{a[0], b[0], a[1], b[1]};
  high = Floats{a[2], b[2], a[3], b[3]};
#endif
}

/// Rows become columns: element j of vector i becomes element i of vector j.
ANEC_INLINE void transpose(Floats (&rows)[width]) {
  Floats pairs[width];
  // Each round interleaves rows that lie half of them apart, and rotates the
  // element index by one bit between row number and lane number.
#pragma GCC unroll 4
  for (size_t round = 1; round < width; round *= 2) {
#pragma GCC unroll 8
    for (size_t i = 0; i < width / 2; ++i)
      interleave(rows[i], rows[i + width / 2], pairs[2 * i], pairs[2 * i + 1]);
    for (size_t i = 0; i < width; ++i)
      rows[i] = pairs[i];
  }
}

/// out[p * stride + j] = b[j * ldb + p] for a block of width x width.
inline void transposeBlock(const float *b, size_t ldb, float *out,
                           size_t stride) {
  Floats rows[width];
  for (size_t i = 0; i < width; ++i)
    rows[i] = load(b + i * ldb);
  transpose(rows);
  for (size_t i = 0; i < width; ++i)
    store(out + i * stride, rows[i]);
}

/// The same for the first \p columns columns and \p count rows of b, of which
/// whole blocks can be read.
inline void transposePart(size_t columns, size_t count, const float *b,
                          size_t ldb, float *out, size_t stride) {
  Floats rows[width];
  for (size_t i = 0; i < width; ++i)
    rows[i] = load(b + i * ldb);
  transpose(rows);
  FirstLanes first(count);
  for (size_t i = 0; i < columns; ++i)
    first.store(out + i * stride, rows[i]);
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_TRANSPOSEBLOCK_H
