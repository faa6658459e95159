//===- ColumnKernels.h - Columns next to each other -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Kernels along the outer axis of a matrix. What they know of a column is in
/// registers while they go through its rows, for some vectors of columns at a
/// time. A part of VectorKernelsBody.h; see Lanes.h for what may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_COLUMNKERNELS_H
#define ANEC_RUNTIME_CPU_COLUMNKERNELS_H

#include "TransposeBlock.h"
#include "VectorReductions.h"

namespace anec::cpu {
namespace {

//===-- Normalization -----------------------------------------------------===//

struct ColumnNorm {
  Columns matrix;
  double epsilon;
  Affines affines; ///< of the rows
  float *out;
  bool half;

  template <size_t vectors>
  ANEC_INLINE void operator()(size_t column, size_t count) const {
    size_t rows = matrix.rows, stride = matrix.stride;
    const float *from = matrix.x + column;
    DoublePair means[vectors], factors[vectors];
    foldColumns<Total, vectors>(rows, stride, from, count,
                                [&](size_t j, Total sum) ANEC_INLINE_LAMBDA {
                                  means[j] = {sum.value.low / double(rows),
                                              sum.value.high / double(rows)};
                                });
    Total squares[vectors];
    for (size_t row = 0; row < rows; ++row)
      for (size_t j = 0; j < vectors; ++j) {
        DoublePair far =
            widen(loadUpTo(count, from + row * stride + j * width));
        far.low -= means[j].low;
        far.high -= means[j].high;
        squares[j].add({far.low * far.low, far.high * far.high});
      }
    for (size_t j = 0; j < vectors; ++j)
      factors[j] = {factorOf(squares[j].value.low),
                    factorOf(squares[j].value.high)};
    for (size_t row = 0; row < rows; ++row) {
      double scale = affines.scales ? double(affines.scales[row]) : 1.0;
      double shift = affines.shifts ? double(affines.shifts[row]) : 0.0;
      for (size_t j = 0; j < vectors; ++j) {
        size_t at = row * stride + j * width;
        DoublePair value = widen(loadUpTo(count, from + at));
        value.low = (value.low - means[j].low) * factors[j].low * scale + shift;
        value.high =
            (value.high - means[j].high) * factors[j].high * scale + shift;
        Floats result = narrow(value);
        storeUpTo(count, out + column + at,
                  half ? roundToHalf(result) : result);
      }
    }
  }

private:
  ANEC_INLINE Doubles factorOf(Doubles squares) const {
    return 1.0 / squareRoot(squares / double(matrix.rows) + epsilon);
  }
};

void normalizeColumnsKernel(const Columns &x, double epsilon,
                            const Affines &ofRows, float *out,
                            Rounding rounding) {
  forEachBlock<2>(
      x.count, ColumnNorm{x, epsilon, ofRows, out, rounding == Rounding::FP16});
}

//===-- Places of extremes ------------------------------------------------===//

template <bool isMax>
struct ExtremePlaces {
  Columns matrix;
  int32_t *places;

  template <size_t vectors>
  ANEC_INLINE void operator()(size_t column, size_t count) const {
    size_t rows = matrix.rows, stride = matrix.stride;
    const float *from = matrix.x + column;
    Floats best[vectors];
    Ints place[vectors] = {};
    for (size_t j = 0; j < vectors; ++j)
      best[j] = loadUpTo(count, from + j * width);
    for (size_t row = 1; row < rows; ++row)
      for (size_t j = 0; j < vectors; ++j) {
        Floats next = loadUpTo(count, from + row * stride + j * width);
        // NaN comes before numbers, and the first one before others.
        Ints isBetter = isMax ? ~(next <= best[j]) : ~(next >= best[j]);
        isBetter &= best[j] == best[j];
        best[j] = isBetter ? next : best[j];
        place[j] = isBetter ? Ints{} + int32_t(row) : place[j];
      }
    for (size_t j = 0; j < vectors; ++j)
      storeUpTo(count, reinterpret_cast<float *>(places) + column + j * width,
                (Floats)place[j]);
  }
};

void extremePlacesKernel(bool isMax, const Columns &x, int32_t *places) {
  if (isMax)
    forEachBlock<4>(x.count, ExtremePlaces<true>{x, places});
  else
    forEachBlock<4>(x.count, ExtremePlaces<false>{x, places});
}

//===-- Cumulative sums ---------------------------------------------------===//

struct SumsSoFar {
  Columns matrix;
  bool isExclusive, isReverse;
  float *out;
  bool half;

  template <size_t vectors>
  ANEC_INLINE void operator()(size_t column, size_t count) const {
    size_t rows = matrix.rows;
    auto stride = ptrdiff_t(matrix.stride);
    ptrdiff_t first = isReverse ? (ptrdiff_t(rows) - 1) * stride : 0;
    ptrdiff_t step = isReverse ? -stride : stride; // to the next row
    Total sums[vectors];
    for (size_t row = 0; row < rows; ++row)
      for (size_t j = 0; j < vectors; ++j) {
        ptrdiff_t at =
            first + ptrdiff_t(row) * step + ptrdiff_t(column + j * width);
        Floats before = narrow(sums[j].value);
        sums[j].add(loadUpTo(count, matrix.x + at));
        Floats result = isExclusive ? before : narrow(sums[j].value);
        storeUpTo(count, out + at, half ? roundToHalf(result) : result);
      }
  }
};

void sumsSoFarKernel(const Columns &x, bool isExclusive, bool isReverse,
                     float *out, Rounding rounding) {
  forEachBlock<4>(x.count, SumsSoFar{x, isExclusive, isReverse, out,
                                     rounding == Rounding::FP16});
}

//===-- Transposition -----------------------------------------------------===//

/// Part of a block at the edge.
ANEC_INLINE void transposeEdge(size_t rows, size_t columns, const float *x,
                               size_t stride, float *out, size_t outStride) {
  Floats block[width] = {};
  for (size_t i = 0; i < columns; ++i)
    block[i] = loadUpTo(rows, x + i * stride);
  transpose(block);
  for (size_t i = 0; i < rows; ++i)
    storeUpTo(columns, out + i * outStride, block[i]);
}

void transposeKernel(size_t rows, size_t columns, const float *x, size_t stride,
                     float *out, size_t outStride) {
  // A line of the cache is written at once, also where the rows of the result
  // share few places of the cache.
  constexpr size_t line = width < 16 ? 16 : width;
  for (size_t c0 = 0; c0 < columns; c0 += line)
    for (size_t r = 0; r < rows; r += width)
      for (size_t c = c0; c < c0 + line && c < columns; c += width) {
        size_t height = rows - r < width ? rows - r : width;
        size_t length = columns - c < width ? columns - c : width;
        const float *from = x + c * stride + r;
        float *to = out + r * outStride + c;
        if (height == width && length == width)
          transposeBlock(from, stride, to, outStride);
        else
          transposeEdge(height, length, from, stride, to, outStride);
      }
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_COLUMNKERNELS_H
