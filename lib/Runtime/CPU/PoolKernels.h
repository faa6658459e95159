//===- PoolKernels.h - Windows of rows and columns --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Folds the rows of windows first, into a row between columns of padding, and
/// then the columns of each window. A part of VectorKernelsBody.h; see Lanes.h
/// for what may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_POOLKERNELS_H
#define ANEC_RUNTIME_CPU_POOLKERNELS_H

#include "VectorReductions.h"

namespace anec::cpu {
namespace {

/// The elements of a row that windows fold: extremes are floats, sums doubles.
struct HeldFloats {
  using Element = float;
  using Vector = Floats;
  static constexpr float start = -__builtin_inff();
  static ANEC_INLINE Vector of(Floats x) { return x; }
  static ANEC_INLINE Vector fold(Vector a, Vector b) { return larger(a, b); }
  static ANEC_INLINE void put(float *to, Vector x) { store(to, x); }
  static ANEC_INLINE Vector get(const float *from) { return load(from); }
  static ANEC_INLINE Floats result(Vector x) { return x; }
};
struct HeldDoubles {
  using Element = double;
  using Vector = DoublePair;
  static constexpr double start = 0;
  static ANEC_INLINE Vector of(Floats x) { return widen(x); }
  static ANEC_INLINE Vector fold(Vector a, Vector b) {
    return {a.low + b.low, a.high + b.high};
  }
  static ANEC_INLINE void put(double *to, Vector x) {
    store(to, x.low);
    store(to + width / 2, x.high);
  }
  static ANEC_INLINE Vector get(const double *from) {
    return {loadAs<Doubles>(from), loadAs<Doubles>(from + width / 2)};
  }
};
struct HeldSums : HeldDoubles {
  static ANEC_INLINE Floats result(Vector x) { return narrow(x); }
};
struct HeldSquares : HeldDoubles {
  static ANEC_INLINE Vector of(Floats x) {
    DoublePair wide = widen(x);
    return {wide.low * wide.low, wide.high * wide.high};
  }
  static ANEC_INLINE Floats result(Vector x) {
    return narrow({squareRoot(x.low), squareRoot(x.high)});
  }
};

/// Every second element of two vectors.
ANEC_INLINE Floats evens(const float *from) {
#if defined(__AVX512F__)
  const Ints places = {0,  2,  4,  6,  8,  10, 12, 14,
                       16, 18, 20, 22, 24, 26, 28, 30};
  return (Floats)_mm512_permutex2var_ps((__m512)load(from), (__m512i)places,
                                        (__m512)load(from + width));
#elif defined(__AVX2__)
  // Within halves first: 0 2 8 10 | 4 6 12 14.
  __m256 pairs =
      _mm256_shuffle_ps((__m256)load(from), (__m256)load(from + width), 0x88);
  return (Floats)_mm256_permute4x64_pd((__m256d)pairs, 0xd8);
#else
  Floats x;
  for (size_t i = 0; i < width; ++i)
    x[i] = from[2 * i];
  return x;
#endif
}
ANEC_INLINE DoublePair evens(const double *from) {
  DoublePair x;
  for (size_t i = 0; i < width / 2; ++i) {
    x.low[i] = from[2 * i];
    x.high[i] = from[2 * i + width];
  }
  return x;
}

ANEC_INLINE Floats everyOf(size_t stride, const float *from) {
  Floats x;
  for (size_t i = 0; i < width; ++i)
    x[i] = from[i * stride];
  return x;
}
ANEC_INLINE DoublePair everyOf(size_t stride, const double *from) {
  DoublePair x;
  for (size_t i = 0; i < width / 2; ++i) {
    x.low[i] = from[i * stride];
    x.high[i] = from[(i + width / 2) * stride];
  }
  return x;
}

/// Folds the columns of windows; `constant` is the stride, or 0 for others.
template <typename Held, size_t constant>
void foldWindows(const PoolShape &shape, double rowCount,
                 const typename Held::Element *held, float *out) {
  forEachVector(shape.outputs, [&](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    auto at = [&](size_t k) ANEC_INLINE_LAMBDA {
      const auto *from = held + i * shape.stride + k;
      if constexpr (constant == 1)
        return Held::get(from);
      else if constexpr (constant == 2)
        return evens(from);
      else
        return everyOf(shape.stride, from);
    };
    typename Held::Vector sum = at(0);
    for (size_t k = 1; k < shape.kernel; ++k)
      sum = Held::fold(sum, at(k));
    if constexpr (sizeof(typename Held::Element) == 8)
      if (shape.counts) {
        DoublePair counts = {};
        __builtin_memcpy(&counts, shape.counts + i, count * sizeof(double));
        sum.low /= counts.low * rowCount;
        sum.high /= counts.high * rowCount;
      }
    storeUpTo(count, out + i, Held::result(sum));
  });
}

/// The end of what windows read, with those that fill the last vector.
ANEC_INLINE size_t poolEnd(const PoolShape &shape) {
  return (shape.outputs + 2 * width) * shape.stride + shape.kernel;
}

template <typename Held>
void padRow(const PoolShape &shape, typename Held::Element *held) {
  size_t end = poolEnd(shape);
  for (size_t i = 0; i < shape.before; ++i)
    held[i] = Held::start;
  for (size_t i = shape.before + shape.columns; i < end; ++i)
    held[i] = Held::start;
}

template <typename Held>
void foldRows(const PoolShape &shape, size_t rows, const uint32_t *offsets,
              const float *x, typename Held::Element *held) {
  held += shape.before;
  forEachVector(shape.columns, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    auto sum = Held::of(splat(float(Held::start)));
    for (size_t row = 0; row < rows; ++row)
      sum = Held::fold(sum, Held::of(loadUpTo(count, x + offsets[row] + i)));
    if (count == width)
      Held::put(held + i, sum);
    else
      __builtin_memcpy(held + i, &sum, count * sizeof(typename Held::Element));
  });
}

template <typename Held>
void foldAllWindows(const PoolShape &shape, double rowCount,
                    const typename Held::Element *held, float *out) {
  if (shape.stride == 1)
    foldWindows<Held, 1>(shape, rowCount, held, out);
  else if (shape.stride == 2)
    foldWindows<Held, 2>(shape, rowCount, held, out);
  else
    foldWindows<Held, 0>(shape, rowCount, held, out);
}

void poolPadKernel(Reduce kind, const PoolShape &shape, double *scratch) {
  if (kind == Reduce::Max)
    padRow<HeldFloats>(shape, reinterpret_cast<float *>(scratch));
  else
    padRow<HeldSums>(shape, scratch);
}

void poolRowsKernel(Reduce kind, const PoolShape &shape, size_t rows,
                    const uint32_t *offsets, const float *x, double *scratch) {
  if (kind == Reduce::Max)
    return foldRows<HeldFloats>(shape, rows, offsets, x,
                                reinterpret_cast<float *>(scratch));
  if (kind == Reduce::L2)
    return foldRows<HeldSquares>(shape, rows, offsets, x, scratch);
  foldRows<HeldSums>(shape, rows, offsets, x, scratch);
}

void poolWindowsKernel(Reduce kind, const PoolShape &shape, double rowCount,
                       const double *scratch, float *out) {
  if (kind == Reduce::Max)
    return foldAllWindows<HeldFloats>(
        shape, rowCount, reinterpret_cast<const float *>(scratch), out);
  if (kind == Reduce::L2)
    return foldAllWindows<HeldSquares>(shape, rowCount, scratch, out);
  foldAllWindows<HeldSums>(shape, rowCount, scratch, out);
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_POOLKERNELS_H
