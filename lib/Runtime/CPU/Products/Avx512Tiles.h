//===- Avx512Tiles.h - the inner loops of products --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The AVX-512 kernels that Avx512Products.cpp uses. B is packed into panels of
/// 64 columns, so that the inner loop streams it; A is not packed, because
/// broadcasting single elements works with any layout.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_AVX512TILES_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_AVX512TILES_H

#include <cstddef>

namespace anec::cpu::avx512 {

constexpr size_t tileRows = 6;
constexpr size_t panelColumns = 64;
constexpr size_t vectorColumns = 16;

/// The columns that \p n columns occupy when packed: whole vectors.
constexpr size_t paddedColumns(size_t n) {
  return (n + vectorColumns - 1) / vectorColumns * vectorColumns;
}

/// C[m, n] = A[m, k] B[k, n] for n <= panelColumns.
struct PanelProduct {
  size_t m, n, k;
  const float *a; ///< element (i, p) is a[i * rowStrideA + p * stepA]
  size_t rowStrideA, stepA;
  const float *b; ///< row p begins at b + p * rowStrideB
  size_t rowStrideB;
  float *c;
  size_t ldc;
  bool accumulate;
  const float *rowBias;    ///< [m] or null
  const float *columnBias; ///< [n] or null
  bool half;               ///< round the result to fp16
};
void multiplyPanel(const PanelProduct &product);

/// Packs B[k, n], n <= panelColumns, into rows of paddedColumns(n), padded with
/// zeros; \p transposed means that B is stored as [n, k].
void packPanel(size_t k, size_t n, const float *b, size_t ldb, bool transposed,
               float *out);

/// out[i] = dot(a + i * lda, x) for i < m, over k elements.
void multiplyRows(size_t m, size_t k, const float *a, size_t lda,
                  const float *x, float *out);

} // namespace anec::cpu::avx512

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_AVX512TILES_H
