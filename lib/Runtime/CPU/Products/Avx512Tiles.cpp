//===- Avx512Tiles.cpp - products in registers ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The inner loops of matrix products: a tile of 6 x 64 sums lives in 24 of the
/// 32 registers, so that each step of k is 4 loads, 6 broadcasts and 24
/// multiply-adds. The build compiles this file for AVX-512; Lanes.h says why it
/// includes so little.
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

#include "Avx512Tiles.h"
#include "../Lanes.h"

using namespace anec::cpu;
using namespace anec::cpu::avx512;

namespace {

using Mask = __mmask16;

ANEC_INLINE Mask firstLanes(size_t count) { return Mask((1u << count) - 1); }
ANEC_INLINE Floats loadMasked(Mask mask, const float *from) {
  return (Floats)_mm512_maskz_loadu_ps(mask, from);
}
ANEC_INLINE void storeMasked(float *to, Mask mask, Floats x) {
  _mm512_mask_storeu_ps(to, mask, (__m512)x);
}

/// Rows [row, row + rows) of the product; n needs exactly `vectors` vectors.
template <size_t rows, size_t vectors>
void multiplyTile(const PanelProduct &product, size_t row) {
  const float *a = product.a + row * product.rowStrideA;
  const float *b = product.b;
  const size_t rowStrideA = product.rowStrideA, stepA = product.stepA;
  const size_t rowStrideB = product.rowStrideB;
  const Mask last = firstLanes(product.n - (vectors - 1) * width);
  const auto maskOf = [=](size_t j) ANEC_INLINE_LAMBDA {
    return j + 1 == vectors ? last : allLanes;
  };

  Floats sums[rows][vectors] = {};
  for (size_t p = 0; p < product.k; ++p, a += stepA, b += rowStrideB) {
    Floats right[vectors];
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; ++j)
      right[j] = loadMasked(maskOf(j), b + j * width);
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; ++i) {
      Floats left = splat(a[i * rowStrideA]);
#pragma GCC unroll 4
      for (size_t j = 0; j < vectors; ++j)
        sums[i][j] += left * right[j];
    }
  }

  float *c = product.c + row * product.ldc;
#pragma GCC unroll 6
  for (size_t i = 0; i < rows; ++i, c += product.ldc)
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; ++j) {
      Floats sum = sums[i][j];
      if (product.rowBias)
        sum += product.rowBias[row + i];
      if (product.columnBias)
        sum += loadMasked(maskOf(j), product.columnBias + j * width);
      if (product.accumulate)
        sum += loadMasked(maskOf(j), c + j * width);
      if (product.half)
        sum = roundToHalf(sum);
      storeMasked(c + j * width, maskOf(j), sum);
    }
}

template <size_t vectors>
void multiplyVectors(const PanelProduct &product) {
  size_t row = 0;
  for (; row + tileRows <= product.m; row += tileRows)
    multiplyTile<tileRows, vectors>(product, row);
  switch (product.m - row) {
  case 5:
    return multiplyTile<5, vectors>(product, row);
  case 4:
    return multiplyTile<4, vectors>(product, row);
  case 3:
    return multiplyTile<3, vectors>(product, row);
  case 2:
    return multiplyTile<2, vectors>(product, row);
  case 1:
    return multiplyTile<1, vectors>(product, row);
  }
}

/// out[p * stride + j] = b[j * ldb + p] for a 16 x 16 block.
void transposeBlock(const float *b, size_t ldb, float *out, size_t stride) {
  Floats rows[width], pairs[width];
  for (size_t i = 0; i < width; ++i)
    rows[i] = load(b + i * ldb);
  // Four rounds; round r interleaves rows that lie 8 apart. After each, the
  // element index has rotated by one bit between row number and lane number.
  const Ints low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  const Ints high = {8,  24, 9,  25, 10, 26, 11, 27,
                     12, 28, 13, 29, 14, 30, 15, 31};
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      pairs[2 * i] = (Floats)_mm512_permutex2var_ps(
          (__m512)rows[i], (__m512i)low, (__m512)rows[i + 8]);
      pairs[2 * i + 1] = (Floats)_mm512_permutex2var_ps(
          (__m512)rows[i], (__m512i)high, (__m512)rows[i + 8]);
    }
    for (size_t i = 0; i < width; ++i)
      rows[i] = pairs[i];
  }
  for (size_t i = 0; i < width; ++i)
    store(out + i * stride, rows[i]);
}

void packTransposed(size_t k, size_t n, const float *b, size_t ldb,
                    float *out) {
  size_t stride = paddedColumns(n);
  for (size_t j = 0; j < stride; j += width) {
    size_t columns = n - j < width ? n - j : width;
    size_t p = 0;
    if (columns == width)
      for (; p + width <= k; p += width)
        transposeBlock(b + j * ldb + p, ldb, out + p * stride + j, stride);
    for (; p < k; ++p)
      for (size_t lane = 0; lane < width; ++lane)
        out[p * stride + j + lane] =
            lane < columns ? b[(j + lane) * ldb + p] : 0;
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
    Mask mask = k - p < width ? firstLanes(k - p) : allLanes;
    for (size_t i = 0; i < rows; ++i)
      sums[i][0] += loadMasked(mask, a + i * lda + p) * loadMasked(mask, x + p);
  }
  for (size_t i = 0; i < rows; ++i)
    out[i] = sumOf(sums[i][0] + sums[i][1]);
}

} // namespace

void avx512::multiplyPanel(const PanelProduct &product) {
  switch (paddedColumns(product.n) / vectorColumns) {
  case 1:
    return multiplyVectors<1>(product);
  case 2:
    return multiplyVectors<2>(product);
  case 3:
    return multiplyVectors<3>(product);
  case 4:
    return multiplyVectors<4>(product);
  }
}

void avx512::packPanel(size_t k, size_t n, const float *b, size_t ldb,
                       bool transposed, float *out) {
  if (transposed)
    return packTransposed(k, n, b, ldb, out);
  for (size_t p = 0; p < k; ++p, b += ldb)
    for (size_t j = 0; j < n; j += width, out += width) {
      Mask mask = n - j < width ? firstLanes(n - j) : allLanes;
      store(out, loadMasked(mask, b + j));
    }
}

void avx512::multiplyRows(size_t m, size_t k, const float *a, size_t lda,
                          const float *x, float *out) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4)
    dotRows<4>(k, a + i * lda, lda, x, out + i);
  for (; i < m; ++i)
    dotRows<1>(k, a + i * lda, lda, x, out + i);
}

#endif
