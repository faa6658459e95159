//===- Tiles.h - the inner loops of products --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The kernels that TiledProducts.cpp uses, of one instruction set each. B is
/// packed into panels of a few vectors of columns, so that the inner loop
/// streams it; A is packed only where it is transposed, because broadcasting
/// single elements of rows works with any distance between these.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_TILES_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_TILES_H

#include <cstddef>

namespace anec::cpu {

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

/// The rows of a tile, for every instruction set.
inline constexpr size_t tileRows = 6;

/// The kernels of an instruction set.
struct TileKernels {
  size_t panelColumns;
  size_t vectorColumns;

  void (*multiplyPanel)(const PanelProduct &product);

  /// Copies B[k, n] into rows of whole vectors, padded with zeros; \p
  /// transposed means that B is stored as [n, k]. A panel has at most
  /// panelColumns.
  void (*packPanel)(size_t k, size_t n, const float *b, size_t ldb,
                    bool transposed, float *out);

  /// out[i] = dot(a + i * lda, x) for i < m, over k elements.
  void (*multiplyRows)(size_t m, size_t k, const float *a, size_t lda,
                       const float *x, float *out);

  /// The columns that \p n columns occupy when packed: whole vectors.
  size_t paddedColumns(size_t n) const {
    return (n + vectorColumns - 1) / vectorColumns * vectorColumns;
  }
};

#if defined(__x86_64__)
extern const TileKernels avx2Tiles;
extern const TileKernels avx512Tiles;
#elif defined(__aarch64__)
extern const TileKernels neonTiles;
#endif

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_TILES_H
