//===- TilesBody.h - products in registers, for any width -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Defines the table ANEC_TILES, whose kernels use the vectors of the
/// instruction set that the including file is compiled for. The sums of a tile
/// live in registers: 6 x 64 in 24 of the 32 that AVX-512 has, 6 x 16 in 24 of
/// NEON's 32 and in 12 of AVX2's 16. Each step of k loads a row of B and
/// broadcasts six elements of A. Lanes.h says why so little is included.
//===----------------------------------------------------------------------===//

#include "../TransposeBlock.h"
#include "Tiles.h"

namespace anec::cpu {
namespace {

constexpr size_t panelVectors = vectorRegisters == 32 ? 4 : 2;
constexpr size_t panelColumns = panelVectors * width;

/// The columns of a panel that n columns occupy when packed.
constexpr size_t paddedColumns(size_t n) {
  return (n + width - 1) / width * width;
}

/// How many rows of B ahead its cache lines are asked for: the second-level
/// cache, which has the panel, answers after fewer steps than these take.
constexpr size_t prefetchedRows = 16;

/// Rows [row, row + rows) of the product; n needs exactly `vectors` vectors,
/// the last of which may be partial.
template <size_t rows, size_t vectors, bool isPartial>
void multiplyTile(const PanelProduct &product, size_t row) {
  const float *a = product.a + row * product.rowStrideA;
  const float *b = product.b;
  const size_t rowStrideA = product.rowStrideA, stepA = product.stepA;
  const size_t rowStrideB = product.rowStrideB;
  const FirstLanes last(product.n - (vectors - 1) * width);
  const auto loadAt = [=](const float *from, size_t j) ANEC_INLINE_LAMBDA {
    return isPartial && j + 1 == vectors ? last.load(from + j * width)
                                         : load(from + j * width);
  };

  float *c = product.c + row * product.ldc;
  // Asked for now, C is there when the sums are.
#pragma GCC unroll 6
  for (size_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; ++j)
      __builtin_prefetch(c + i * product.ldc + j * width, 1);
  Floats sums[rows][vectors] = {};
  for (size_t p = 0; p < product.k; ++p, a += stepA, b += rowStrideB) {
    Floats right[vectors];
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; ++j) {
      right[j] = loadAt(b, j);
      __builtin_prefetch(b + prefetchedRows * rowStrideB + j * width);
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; ++i) {
      Floats left = splat(a[i * rowStrideA]);
#pragma GCC unroll 4
      for (size_t j = 0; j < vectors; ++j)
        sums[i][j] += left * right[j];
    }
  }

#pragma GCC unroll 6
  for (size_t i = 0; i < rows; ++i, c += product.ldc)
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; ++j) {
      Floats sum = sums[i][j];
      if (product.rowBias)
        sum += product.rowBias[row + i];
      if (product.columnBias)
        sum += loadAt(product.columnBias, j);
      if (product.accumulate)
        sum += loadAt(c, j);
      if (product.half)
        sum = roundToHalf(sum);
      if (isPartial && j + 1 == vectors)
        last.store(c + j * width, sum);
      else
        store(c + j * width, sum);
    }
}

template <size_t vectors, bool isPartial>
void multiplyVectors(const PanelProduct &product) {
  size_t row = 0;
  for (; row + tileRows <= product.m; row += tileRows)
    multiplyTile<tileRows, vectors, isPartial>(product, row);
  switch (product.m - row) {
  case 5:
    return multiplyTile<5, vectors, isPartial>(product, row);
  case 4:
    return multiplyTile<4, vectors, isPartial>(product, row);
  case 3:
    return multiplyTile<3, vectors, isPartial>(product, row);
  case 2:
    return multiplyTile<2, vectors, isPartial>(product, row);
  case 1:
    return multiplyTile<1, vectors, isPartial>(product, row);
  }
}

/// A block of `columns` rows of B and `count` steps of k, at most `width` of
/// each; the other columns are zeros.
void transposeEdge(const float *b, size_t ldb, size_t columns, size_t count,
                   float *out, size_t stride) {
  FirstLanes steps(count);
  Floats rows[width] = {};
  for (size_t i = 0; i < columns; ++i)
    rows[i] = steps.load(b + i * ldb);
  transpose(rows);
  for (size_t i = 0; i < count; ++i)
    store(out + i * stride, rows[i]);
}

void packTransposed(size_t k, size_t n, const float *b, size_t ldb,
                    float *out) {
  // Rows are too far apart for the processor's own prefetching.
  constexpr size_t ahead = 2 * width;
  size_t stride = paddedColumns(n);
  for (size_t j = 0; j < stride; j += width) {
    size_t columns = n - j < width ? n - j : width;
    size_t p = 0;
    for (; columns == width && p + width <= k; p += width) {
#pragma GCC unroll 16
      for (size_t lane = 0; lane < width; ++lane)
        __builtin_prefetch(b + (j + ahead + lane) * ldb + p);
      transposeBlock(b + j * ldb + p, ldb, out + p * stride + j, stride);
    }
    for (; p < k; p += width)
      transposeEdge(b + j * ldb + p, ldb, columns,
                    k - p < width ? k - p : width, out + p * stride + j,
                    stride);
  }
}

ANEC_INLINE float sumOf(Floats x) {
  float result = 0;
  for (size_t i = 0; i < width; ++i)
    result += x[i];
  return result;
}

/// `rows` dot products at once, to load x once for all.
template <size_t rows>
void dotRows(size_t k, const float *a, size_t lda, const float *x, float *out) {
  Floats sums[rows][2] = {};
  size_t p = 0;
  for (; p + 2 * width <= k; p += 2 * width)
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (size_t j = 0; j < 2; ++j)
        sums[i][j] +=
            load(a + i * lda + p + j * width) * load(x + p + j * width);
  for (; p < k; p += width) {
    FirstLanes lanes(k - p < width ? k - p : width);
    for (size_t i = 0; i < rows; ++i)
      sums[i][0] += lanes.load(a + i * lda + p) * lanes.load(x + p);
  }
  for (size_t i = 0; i < rows; ++i)
    out[i] = sumOf(sums[i][0] + sums[i][1]);
}

template <bool isPartial>
void multiplyPartialPanel(const PanelProduct &product) {
  size_t vectors = paddedColumns(product.n) / width;
  if constexpr (panelVectors == 4) {
    if (vectors == 4)
      return multiplyVectors<4, isPartial>(product);
    if (vectors == 3)
      return multiplyVectors<3, isPartial>(product);
  }
  if (vectors == 2)
    return multiplyVectors<2, isPartial>(product);
  if (vectors == 1)
    multiplyVectors<1, isPartial>(product);
}

void multiplyPanelKernel(const PanelProduct &product) {
  if (product.n % width == 0)
    return multiplyPartialPanel<false>(product);
  multiplyPartialPanel<true>(product);
}

void packPanelKernel(size_t k, size_t n, const float *b, size_t ldb,
                     bool transposed, float *out) {
  if (transposed)
    return packTransposed(k, n, b, ldb, out);
  size_t whole = n / width * width;
  FirstLanes last(n - whole);
  for (size_t p = 0; p < k; ++p, b += ldb) {
    size_t j = 0;
    for (; j < whole; j += width, out += width)
      store(out, load(b + j));
    if (j < n) {
      store(out, last.load(b + j));
      out += width;
    }
  }
}

void multiplyRowsKernel(size_t m, size_t k, const float *a, size_t lda,
                        const float *x, float *out) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4)
    dotRows<4>(k, a + i * lda, lda, x, out + i);
  for (; i < m; ++i)
    dotRows<1>(k, a + i * lda, lda, x, out + i);
}

} // namespace

constinit const TileKernels ANEC_TILES = {
    .panelColumns = panelColumns,
    .vectorColumns = width,
    .multiplyPanel = multiplyPanelKernel,
    .packPanel = packPanelKernel,
    .multiplyRows = multiplyRowsKernel,
};

} // namespace anec::cpu
