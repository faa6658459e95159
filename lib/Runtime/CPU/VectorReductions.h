//===- VectorReductions.h - Reductions of rows and columns ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Folds vectors into accumulators. See Lanes.h for what may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_VECTORREDUCTIONS_H
#define ANEC_RUNTIME_CPU_VECTORREDUCTIONS_H

#include "UnaryKernels.h"
#include "lib/Runtime/CPU/VectorKernels.h"

namespace anec::cpu {
namespace {

/// The accumulators of reductions: extremes in fp32, sums and products in fp64.
struct Maximum {
  Floats value = splat(-__builtin_inff());
  ANEC_INLINE void add(Floats x) { value = larger(value, x); }
  ANEC_INLINE void merge(Maximum other) { add(other.value); }
  static constexpr float filler = -__builtin_inff();
};
/// The maximum of what is a number.
struct Greatest {
  Floats value = splat(-__builtin_inff());
  ANEC_INLINE void add(Floats x) { value = max(value, x); }
  ANEC_INLINE void merge(Greatest other) { add(other.value); }
  static constexpr float filler = -__builtin_inff();
};
struct Minimum {
  Floats value = splat(__builtin_inff());
  ANEC_INLINE void add(Floats x) { value = smaller(value, x); }
  ANEC_INLINE void merge(Minimum other) { add(other.value); }
  static constexpr float filler = __builtin_inff();
};
struct Total {
  DoublePair value = {};
  ANEC_INLINE void add(DoublePair x) {
    value.low += x.low;
    value.high += x.high;
  }
  ANEC_INLINE void add(Floats x) { add(widen(x)); }
  ANEC_INLINE void merge(Total other) { add(other.value); }
  static constexpr float filler = 0;
};
struct AbsoluteTotal : Total {
  ANEC_INLINE void add(Floats x) { Total::add(widen(abs(x))); }
};
struct SquareTotal : Total {
  ANEC_INLINE void add(Floats x) {
    DoublePair wide = widen(x);
    value.low += wide.low * wide.low;
    value.high += wide.high * wide.high;
  }
};

struct Product {
  DoublePair value = {Doubles{} + 1.0, Doubles{} + 1.0};
  ANEC_INLINE void multiply(DoublePair x) {
    value.low *= x.low;
    value.high *= x.high;
  }
  ANEC_INLINE void add(Floats x) { multiply(widen(x)); }
  ANEC_INLINE void merge(Product other) { multiply(other.value); }
  static constexpr float filler = 1;
};

/// Combines the lanes of a vector in pairs, which takes few dependent steps.
template <typename Vector, typename Combine>
ANEC_INLINE auto combineLanes(Vector x, Combine combine) {
  for (size_t half = sizeof(x) / sizeof(x[0]) / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      x[i] = combine(x[i], x[i + half]);
  return x[0];
}

ANEC_INLINE double total(const Total &sum) {
  return combineLanes(sum.value.low + sum.value.high,
                      [](double a, double b)
                          ANEC_INLINE_LAMBDA { return a + b; });
}
ANEC_INLINE double total(const Product &product) {
  return combineLanes(product.value.low * product.value.high,
                      [](double a, double b)
                          ANEC_INLINE_LAMBDA { return a * b; });
}
ANEC_INLINE double total(const Maximum &maximum) {
  return combineLanes(maximum.value, [](float a, float b) ANEC_INLINE_LAMBDA {
    return a < b || b != b ? b : a;
  });
}
ANEC_INLINE double total(const Greatest &greatest) {
  return combineLanes(greatest.value, [](float a, float b) ANEC_INLINE_LAMBDA {
    return a < b ? b : a;
  });
}
ANEC_INLINE double total(const Minimum &minimum) {
  return combineLanes(minimum.value, [](float a, float b) ANEC_INLINE_LAMBDA {
    return b < a || b != b ? b : a;
  });
}

template <typename Fold>
double foldRow(size_t n, const float *x) {
  // Four accumulators hide the latency of the additions.
  Fold folds[4];
  size_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width)
    for (size_t j = 0; j < 4; ++j)
      folds[j].add(load(x + i + j * width));
  for (size_t j = 0; j < 3; ++j)
    if (i + width <= n) {
      folds[j].add(load(x + i));
      i += width;
    }
  if (i < n)
    folds[3].add(fillFrom(n - i, FirstLanes(n - i).load(x + i), Fold::filler));
  folds[0].merge(folds[1]);
  folds[2].merge(folds[3]);
  folds[0].merge(folds[2]);
  return total(folds[0]);
}

/// out[row] = finish(the fold of a row).
template <typename Fold, typename Finish>
void reduceRowsBy(size_t rows, size_t n, const float *x, float *out,
                  Finish finish) {
  for (size_t row = 0; row < rows; ++row)
    out[row] = float(finish(foldRow<Fold>(n, x + row * n)));
}
template <typename Fold>
void reduceRowsBy(size_t rows, size_t n, const float *x, float *out) {
  reduceRowsBy<Fold>(rows, n, x, out,
                     [](double value) ANEC_INLINE_LAMBDA { return value; });
}

void reduceRowsOf(Reduce kind, size_t rows, size_t n, const float *x,
                  float *out) {
  switch (kind) {
  case Reduce::L1:
    return reduceRowsBy<AbsoluteTotal>(rows, n, x, out);
  case Reduce::L2:
    return reduceRowsBy<SquareTotal>(
        rows, n, x, out,
        [](double sum) ANEC_INLINE_LAMBDA { return __builtin_sqrt(sum); });
  case Reduce::LogSum:
    return reduceRowsBy<Total>(
        rows, n, x, out,
        [](double sum) ANEC_INLINE_LAMBDA { return __builtin_log(sum); });
  case Reduce::Max:
    return reduceRowsBy<Maximum>(rows, n, x, out);
  case Reduce::Mean:
    return reduceRowsBy<Total>(rows, n, x, out,
                               [n](double sum) ANEC_INLINE_LAMBDA {
                                 return n ? sum / double(n) : __builtin_nan("");
                               });
  case Reduce::Min:
    return reduceRowsBy<Minimum>(rows, n, x, out);
  case Reduce::Product:
    return reduceRowsBy<Product>(rows, n, x, out);
  case Reduce::Sum:
    return reduceRowsBy<Total>(rows, n, x, out);
  case Reduce::SumSquare:
    return reduceRowsBy<SquareTotal>(rows, n, x, out);
  }
}

void reduceRowsKernel(Reduce kind, size_t rows, size_t n, const float *x,
                      float *out, Rounding rounding) {
  reduceRowsOf(kind, rows, n, x, out);
  if (rounding == Rounding::FP16)
    forEachVector(rows, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
      storeUpTo(count, out + i, roundToHalf(loadUpTo(count, out + i)));
    });
}

/// What becomes of a column's sum.
enum class Finish { Scale, Root, Log };

template <Finish finish>
ANEC_INLINE Doubles finished(Doubles sums) {
  if constexpr (finish != Finish::Scale)
    for (size_t i = 0; i < width / 2; ++i)
      sums[i] = finish == Finish::Root ? __builtin_sqrt(sums[i])
                                       : __builtin_log(sums[i]);
  return sums;
}

/// The results of a vector of columns: sums times `factor`, their roots, or
/// their logarithms.
template <Finish finish>
ANEC_INLINE Floats columnResult(Total sum, double factor) {
  return narrow({finished<finish>(sum.value.low * factor),
                 finished<finish>(sum.value.high * factor)});
}
template <Finish>
ANEC_INLINE Floats columnResult(Product product, double) {
  return narrow(product.value);
}
template <Finish>
ANEC_INLINE Floats columnResult(Maximum maximum, double) {
  return maximum.value;
}
template <Finish>
ANEC_INLINE Floats columnResult(Minimum minimum, double) {
  return minimum.value;
}

/// Calls block(vectors, column, count) with `vectors` (a constant) whole
/// vectors of columns, and then with one, of which `count` columns matter.
template <size_t vectors, typename Block>
ANEC_INLINE void forEachBlock(size_t columns, Block block) {
  size_t column = 0;
  for (; column + vectors * width <= columns; column += vectors * width)
    block.template operator()<vectors>(column, width);
  for (; column < columns; column += width)
    block.template operator()<1>(
        column, columns - column < width ? columns - column : width);
}

/// Reduces `vectors` whole vectors of columns, or, if `vectors` is 1, the first
/// `count` columns of one.
template <typename Fold, size_t vectors, typename Use>
ANEC_INLINE void foldColumns(size_t rows, size_t stride, const float *x,
                             size_t count, Use use) {
  Fold folds[vectors];
  for (size_t row = 0; row < rows; ++row, x += stride)
    for (size_t j = 0; j < vectors; ++j)
      folds[j].add(vectors == 1 ? loadUpTo(count, x) : load(x + j * width));
  for (size_t j = 0; j < vectors; ++j)
    use(j, folds[j]);
}

template <typename Fold, Finish finish = Finish::Scale>
void reduceColumnsBy(Columns x, float *out, bool half, double factor = 1) {
  auto finishAt = [=](size_t column, size_t count) {
    return [=](size_t j, Fold fold) ANEC_INLINE_LAMBDA {
      Floats value = columnResult<finish>(fold, factor);
      value = half ? roundToHalf(value) : value;
      storeUpTo(count, out + column + j * width, value);
    };
  };
  forEachBlock<4>(x.count, [=]<size_t vectors>(
                               size_t column, size_t count) ANEC_INLINE_LAMBDA {
    foldColumns<Fold, vectors>(x.rows, x.stride, x.x + column, count,
                               finishAt(column, count));
  });
}

void reduceColumnsKernel(Reduce kind, const Columns &x, float *out,
                         Rounding rounding) {
  bool half = rounding == Rounding::FP16;
  switch (kind) {
  case Reduce::L1:
    return reduceColumnsBy<AbsoluteTotal>(x, out, half);
  case Reduce::L2:
    return reduceColumnsBy<SquareTotal, Finish::Root>(x, out, half);
  case Reduce::LogSum:
    return reduceColumnsBy<Total, Finish::Log>(x, out, half);
  case Reduce::Max:
    return reduceColumnsBy<Maximum>(x, out, half);
  case Reduce::Mean: {
    double factor = x.rows ? 1.0 / double(x.rows) : __builtin_nan("");
    return reduceColumnsBy<Total>(x, out, half, factor);
  }
  case Reduce::Min:
    return reduceColumnsBy<Minimum>(x, out, half);
  case Reduce::Product:
    return reduceColumnsBy<Product>(x, out, half);
  case Reduce::Sum:
    return reduceColumnsBy<Total>(x, out, half);
  case Reduce::SumSquare:
    return reduceColumnsBy<SquareTotal>(x, out, half);
  }
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_VECTORREDUCTIONS_H
