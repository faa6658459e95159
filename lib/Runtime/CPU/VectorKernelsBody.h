//===- VectorKernelsBody.h - The kernels, for any width ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Defines the table ANEC_KERNEL_TABLE, whose kernels use the vectors of the
/// instruction set that the including file is compiled for. One source for all
/// instruction sets keeps their results consistent. See Lanes.h for what may be
/// included.
//===----------------------------------------------------------------------===//

#include "ColumnKernels.h"
#include "KernelTable.h"
#include "PanelSums.h"
#include "SearchKernels.h"
#include "TransposeBlock.h"
#include "UnaryKernels.h"
#include "VectorReductions.h"
#include "VectorTrig.h"

namespace anec::cpu {
namespace {

//===-- Conversions -------------------------------------------------------===//

void roundRow(size_t n, const float *x, float *out) {
  forEachVector(n, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    storeUpTo(count, out + i, roundToHalf(loadUpTo(count, x + i)));
  });
}

//===-- Binary ------------------------------------------------------------===//

ANEC_INLINE Floats toInt8(Floats x) {
  Floats number = x == x ? x : Floats{};
  // Adding 0 makes -0 the integer 0.
  return roundEven(min(max(number, splat(-128.0f)), splat(127.0f))) + Floats{};
}

template <Binary kind>
ANEC_INLINE Floats apply(Floats a, Floats b) {
  if constexpr (kind == Binary::Add)
    return a + b;
  else if constexpr (kind == Binary::Sub)
    return a - b;
  else if constexpr (kind == Binary::Mul)
    return a * b;
  else if constexpr (kind == Binary::Div)
    return a / b;
  else if constexpr (kind == Binary::Max)
    return larger(a, b);
  else if constexpr (kind == Binary::Min)
    return smaller(a, b);
  else if constexpr (kind == Binary::FloorDiv)
    return floorDiv(a, b);
  else if constexpr (kind == Binary::Mod)
    return mod(a, b);
  else if constexpr (kind == Binary::Prelu)
    return a < 0.0f ? b * a : a;
  else if constexpr (kind == Binary::Int8)
    return toInt8(a / b);
  else
    return pow(a, b);
}

template <Binary kind, bool half, bool rowA, bool rowB>
void binaryRow(size_t n, const float *a, const float *b, float *out) {
  Floats scalarA = splat(*a), scalarB = splat(*b);
  forEachVector(n, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    Floats x = rowA ? loadUpTo(count, a + i) : scalarA;
    Floats y = rowB ? loadUpTo(count, b + i) : scalarB;
    storeUpTo(count, out + i, rounded<half>(apply<kind>(x, y)));
  });
}

template <Binary kind, bool half>
void binaryStrides(size_t n, const float *a, size_t strideA, const float *b,
                   size_t strideB, float *out) {
  if (strideA && strideB)
    return binaryRow<kind, half, true, true>(n, a, b, out);
  if (strideA)
    return binaryRow<kind, half, true, false>(n, a, b, out);
  if (strideB)
    return binaryRow<kind, half, false, true>(n, a, b, out);
  binaryRow<kind, half, false, false>(n, a, b, out);
}

template <Binary kind>
void binaryRounding(size_t n, const float *a, size_t strideA, const float *b,
                    size_t strideB, float *out, Rounding rounding) {
  if (rounding == Rounding::FP16)
    return binaryStrides<kind, true>(n, a, strideA, b, strideB, out);
  binaryStrides<kind, false>(n, a, strideA, b, strideB, out);
}

void binaryKernel(Binary kind, size_t n, const float *a, size_t strideA,
                  const float *b, size_t strideB, float *out,
                  Rounding rounding) {
  if (n == 0)
    return;
  switch (kind) {
#define ANEC_CASE(name)                                                        \
  case Binary::name:                                                           \
    return binaryRounding<Binary::name>(n, a, strideA, b, strideB, out,        \
                                        rounding);
    ANEC_CASE(Add)
    ANEC_CASE(Sub)
    ANEC_CASE(Mul)
    ANEC_CASE(Div)
    ANEC_CASE(FloorDiv)
    ANEC_CASE(Max)
    ANEC_CASE(Min)
    ANEC_CASE(Mod)
    ANEC_CASE(Pow)
    ANEC_CASE(Prelu)
    ANEC_CASE(Int8)
#undef ANEC_CASE
  }
}

template <bool half, bool roundSigmoid>
void siluMulRow(size_t n, const float *gate, const float *up, float *out) {
  forEachVector(n, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    Floats x = loadUpTo(count, gate + i);
    Floats silu = rounded<half>(x * rounded<roundSigmoid>(sigmoid(x)));
    storeUpTo(count, out + i, rounded<half>(silu * loadUpTo(count, up + i)));
  });
}

void siluMulKernel(size_t n, const float *gate, const float *up, float *out,
                   Rounding rounding, bool roundSigmoid) {
  if (rounding == Rounding::None)
    return siluMulRow<false, false>(n, gate, up, out);
  if (roundSigmoid)
    return siluMulRow<true, true>(n, gate, up, out);
  siluMulRow<true, false>(n, gate, up, out);
}

//===-- Softmax -----------------------------------------------------------===//

/// Divides by one number, which is no less than the dividend; a rounded product
/// with its reciprocal is corrected by what is left of the dividend.
struct Divisor {
  explicit ANEC_INLINE Divisor(float x)
      : divisor(splat(x)), reciprocal(splat(1 / x)) {}
  ANEC_INLINE Floats divide(Floats x) const {
    // Without fused multiplications, what is left would be rounded, too.
    if (width == 4)
      return x / divisor;
    Floats quotient = x * reciprocal;
    return quotient + (x - quotient * divisor) * reciprocal;
  }
  Floats divisor, reciprocal;
};

/// The sum of e^(x - top) in fp64, whose terms become `out`. Both have the same
/// factor. What is no number makes the sum none.
ANEC_INLINE double powersBelow(size_t n, float greatest, const float *x,
                               float *out) {
  Floats top = splat(greatest);
  Total sum;
  size_t i = 0;
  // Two vectors at a time, so that the steps of one need not wait for each
  // other. Up to eight such pairs are summed in fp32 first.
  while (i + 2 * width <= n) {
    size_t pairs = (n - i) / (2 * width);
    size_t end = i + 2 * width * (pairs < 8 ? pairs : 8);
    Floats few = {};
#pragma GCC unroll 1
    for (; i < end; i += 2 * width) {
      Floats low = expBelowScaled(load(x + i) - top);
      Floats high = expBelowScaled(load(x + i + width) - top);
      store(out + i, low);
      store(out + i + width, high);
      few += low + high;
    }
    sum.add(few);
  }
  forEachVector(n - i, [&](size_t j, size_t count) ANEC_INLINE_LAMBDA {
    Floats e = expBelowScaled(loadUpTo(count, x + i + j) - top);
    storeUpTo(count, out + i + j, e);
    sum.add(count == width ? e : fillFrom(count, e, 0));
  });
  return total(sum);
}

template <bool half>
ANEC_INLINE void divideBy(float sum, size_t n, float *out) {
  Divisor divisor(sum);
  forEachVector(n, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    storeUpTo(count, out + i,
              rounded<half>(divisor.divide(loadUpTo(count, out + i))));
  });
}

/// Each step of several rows before the next one, so that short rows need not
/// wait for what is one number of another.
template <bool half>
void softmaxOfRows(size_t rows, size_t n, const float *x, float *out) {
  constexpr size_t most = 8;
  size_t together = n < 512 ? most : 1;
  float numbers[most];
  for (size_t first = 0; first < rows; first += together) {
    size_t count = rows - first < together ? rows - first : together;
    const float *from = x + first * n;
    float *to = out + first * n;
    for (size_t row = 0; row < count; ++row)
      numbers[row] = float(foldRow<Greatest>(n, from + row * n));
    for (size_t row = 0; row < count; ++row)
      numbers[row] =
          float(powersBelow(n, numbers[row], from + row * n, to + row * n));
    for (size_t row = 0; row < count; ++row)
      divideBy<half>(numbers[row], n, to + row * n);
  }
}

void softmaxRowsKernel(size_t rows, size_t n, const float *x, float *out,
                       Rounding rounding) {
  if (rounding == Rounding::FP16)
    return softmaxOfRows<true>(rows, n, x, out);
  softmaxOfRows<false>(rows, n, x, out);
}

template <bool half>
ANEC_INLINE void scaledSoftmax(size_t n, const float *x, float scale,
                               const float *mask, float *out) {
  Floats factor = splat(scale);
  Greatest greatest;
  forEachVector(n, [&](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    Floats score = rounded<half>(loadUpTo(count, x + i) * factor);
    if (mask)
      score = rounded<half>(score + loadUpTo(count, mask + i));
    storeUpTo(count, out + i, score);
    greatest.add(count == width ? score
                                : fillFrom(count, score, Greatest::filler));
  });
  auto sum = float(powersBelow(n, float(total(greatest)), out, out));
  divideBy<half>(sum, n, out);
}

void scaledSoftmaxRowKernel(size_t n, const float *x, float scale,
                            const float *mask, float *out, Rounding rounding) {
  if (rounding == Rounding::FP16)
    return scaledSoftmax<true>(n, x, scale, mask, out);
  scaledSoftmax<false>(n, x, scale, mask, out);
}

template <size_t vectors>
ANEC_INLINE void softmaxColumnBlock(size_t rows, size_t stride, size_t count,
                                    const float *x, float *out, bool half) {
  Floats greatest[vectors];
  foldColumns<Greatest, vectors>(
      rows, stride, x, count, [&](size_t j, Greatest fold) ANEC_INLINE_LAMBDA {
        greatest[j] = fold.value;
      });
  Total sums[vectors];
  for (size_t row = 0; row < rows; ++row)
    for (size_t j = 0; j < vectors; ++j) {
      size_t at = row * stride + j * width;
      Floats e = expBelow(loadUpTo(count, x + at) - greatest[j]);
      storeUpTo(count, out + at, e);
      sums[j].add(e);
    }
  Floats divisors[vectors];
  for (size_t j = 0; j < vectors; ++j)
    divisors[j] = narrow(sums[j].value);
  for (size_t row = 0; row < rows; ++row)
    for (size_t j = 0; j < vectors; ++j) {
      size_t at = row * stride + j * width;
      Floats result = loadUpTo(count, out + at) / divisors[j];
      storeUpTo(count, out + at, half ? roundToHalf(result) : result);
    }
}

void softmaxColumnsKernel(const Columns &x, float *out, Rounding rounding) {
  bool half = rounding == Rounding::FP16;
  forEachBlock<4>(x.count, [=]<size_t vectors>(
                               size_t column, size_t count) ANEC_INLINE_LAMBDA {
    softmaxColumnBlock<vectors>(x.rows, x.stride, count, x.x + column,
                                out + column, half);
  });
}

//===-- Normalization -----------------------------------------------------===//

/// Adds the squares of distances from the mean.
ANEC_INLINE void addSquares(Floats x, double mean, Total &total) {
  DoublePair wide = widen(x);
  wide.low -= mean;
  wide.high -= mean;
  total.add({wide.low * wide.low, wide.high * wide.high});
}

void momentsKernel(size_t n, const float *x, double *mean, double *variance) {
  double middle = foldRow<Total>(n, x) / double(n);
  Total totals[4];
  size_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width)
    for (size_t j = 0; j < 4; ++j)
      addSquares(load(x + i + j * width), middle, totals[j]);
  for (size_t j = 0; i + width <= n; ++j, i += width)
    addSquares(load(x + i), middle, totals[j]);
  double rest = 0;
  for (; i < n; ++i)
    rest += (double(x[i]) - middle) * (double(x[i]) - middle);
  totals[0].merge(totals[1]);
  totals[2].merge(totals[3]);
  totals[0].merge(totals[2]);
  *mean = middle;
  *variance = (total(totals[0]) + rest) / double(n);
}

void normalizeRowKernel(size_t n, const float *x, const Scaling &by,
                        const Affine &affine, float *out, Rounding rounding) {
  bool half = rounding == Rounding::FP16;
  auto normalize = [by, affine](Doubles value) ANEC_INLINE_LAMBDA {
    return (value - by.mean) * by.factor * affine.scale + affine.shift;
  };
  forEachVector(n, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    DoublePair wide = widen(loadUpTo(count, x + i));
    Floats result = narrow({normalize(wide.low), normalize(wide.high)});
    storeUpTo(count, out + i, half ? roundToHalf(result) : result);
  });
}

template <bool hasScales, bool hasShifts>
void normalizeElementsBy(size_t n, const float *x, Scaling by, Affines affines,
                         float *out, bool half) {
  forEachVector(n, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    DoublePair value = widen(loadUpTo(count, x + i));
    value.low = (value.low - by.mean) * by.factor;
    value.high = (value.high - by.mean) * by.factor;
    if constexpr (hasScales) {
      DoublePair scale = widen(loadUpTo(count, affines.scales + i));
      value.low *= scale.low;
      value.high *= scale.high;
    }
    if constexpr (hasShifts) {
      DoublePair shift = widen(loadUpTo(count, affines.shifts + i));
      value.low += shift.low;
      value.high += shift.high;
    }
    Floats result = narrow(value);
    storeUpTo(count, out + i, half ? roundToHalf(result) : result);
  });
}

void normalizeElementsKernel(size_t n, const float *x, const Scaling &by,
                             const Affines &affines, float *out,
                             Rounding rounding) {
  bool half = rounding == Rounding::FP16;
  if (affines.scales && affines.shifts)
    return normalizeElementsBy<true, true>(n, x, by, affines, out, half);
  if (affines.scales)
    return normalizeElementsBy<true, false>(n, x, by, affines, out, half);
  if (affines.shifts)
    return normalizeElementsBy<false, true>(n, x, by, affines, out, half);
  normalizeRowKernel(n, x, by, {1, 0}, out, rounding);
}

//===-- Convolutions ------------------------------------------------------===//

/// `vectors` whole vectors of `outputs` outputs, or, if `vectors` is 1, the
/// first `count` elements of one.
template <size_t outputs, size_t vectors>
ANEC_INLINE void sumBlock(SumTerms terms, SumWeights of, SumPlaces to,
                          size_t count, bool half) {
  Floats sums[outputs][vectors];
  for (size_t o = 0; o < outputs; ++o)
    for (size_t j = 0; j < vectors; ++j)
      sums[o][j] = splat(of.starts ? of.starts[o] : 0.0f);
  for (size_t t = 0; t < terms.count; ++t) {
    const float *from = terms.x + terms.offsets[t];
    for (size_t j = 0; j < vectors; ++j) {
      Floats value = load(from + j * width);
      for (size_t o = 0; o < outputs; ++o)
        sums[o][j] += of.weights[o * terms.count + t] * value;
    }
  }
  for (size_t o = 0; o < outputs; ++o)
    for (size_t j = 0; j < vectors; ++j) {
      Floats sum = half ? roundToHalf(sums[o][j]) : sums[o][j];
      storeUpTo(vectors == 1 ? count : width,
                to.out + o * to.stride + j * width, sum);
    }
}

ANEC_INLINE SumTerms after(size_t i, SumTerms terms) {
  return {terms.count, terms.offsets, terms.x + i};
}
ANEC_INLINE SumPlaces after(size_t i, SumPlaces to) {
  return {to.out + i, to.stride};
}

template <size_t outputs, size_t vectors>
void sumOutputs(size_t n, SumTerms terms, SumWeights of, SumPlaces to,
                bool half) {
  size_t i = 0;
  for (; i + vectors * width <= n; i += vectors * width)
    sumBlock<outputs, vectors>(after(i, terms), of, after(i, to), width, half);
  if (i == n)
    return;
  // Half as many at a time, so that few vectors have to wait for their own sum.
  if constexpr (vectors > 1)
    sumOutputs<outputs, vectors / 2>(n - i, after(i, terms), of, after(i, to),
                                     half);
  else
    sumBlock<outputs, 1>(after(i, terms), of, after(i, to), n - i, half);
}

void weightedSumsKernel(size_t n, const SumTerms &terms,
                        const SumWeights &outputs, const SumPlaces &to,
                        Rounding rounding) {
  bool half = rounding == Rounding::FP16;
  // The sums of a block are in registers.
  constexpr size_t few = width == 16 ? 4 : 2;
  auto from = [outputs, count = terms.count](size_t o, size_t number) {
    return SumWeights{number, outputs.weights + o * count,
                      outputs.starts ? outputs.starts + o : nullptr};
  };
  size_t o = 0;
  for (; o + 4 <= outputs.count; o += 4)
    sumOutputs<4, few>(n, terms, from(o, 4), after(o * to.stride, to), half);
  for (; o < outputs.count; ++o)
    sumOutputs<1, 2 * few>(n, terms, from(o, 1), after(o * to.stride, to),
                           half);
}

/// `vectors` vectors of each output of a tile; of the last one, only the first
/// `count` elements if it `isPartial`.
template <size_t vectors, bool isPartial>
ANEC_INLINE void tileBlock(SumTerms terms, SumWeights outputs, SumPlaces to,
                           size_t count, bool half) {
  Floats sums[tileOutputs][vectors];
  auto place = [to](size_t o, size_t j) {
    return to.out + o * to.stride + j * width;
  };
  auto isWhole = [](size_t j) { return !isPartial || j + 1 < vectors; };
  for (size_t o = 0; o < tileOutputs; ++o)
    for (size_t j = 0; j < vectors; ++j)
      sums[o][j] = outputs.starts       ? splat(outputs.starts[o])
                   : o >= outputs.count ? Floats{}
                   : isWhole(j)         ? load(place(o, j))
                                        : loadUpTo(count, place(o, j));
  FirstLanes first(count);
  for (size_t t = 0; t < terms.count; ++t) {
    const float *from = terms.x + terms.offsets[t];
    const float *weight = outputs.weights + t * tileOutputs;
    Floats values[vectors];
    for (size_t j = 0; j < vectors; ++j)
      values[j] =
          isWhole(j) ? load(from + j * width) : first.load(from + j * width);
    for (size_t o = 0; o < tileOutputs; ++o)
      for (size_t j = 0; j < vectors; ++j)
        sums[o][j] += weight[o] * values[j];
  }
  for (size_t o = 0; o < tileOutputs && o < outputs.count; ++o)
    for (size_t j = 0; j < vectors; ++j)
      storeUpTo(isWhole(j) ? width : count, place(o, j),
                half ? roundToHalf(sums[o][j]) : sums[o][j]);
}

void tiledSumsKernel(size_t n, const SumTerms &terms, const SumWeights &outputs,
                     const SumPlaces &to, Rounding rounding) {
  bool half = rounding == Rounding::FP16;
  // With the elements and a weight, as many vectors as there are registers.
  constexpr size_t vectors = width == 16 ? 4 : 2;
  size_t i = 0;
  for (; i + vectors * width <= n; i += vectors * width)
    tileBlock<vectors, false>(after(i, terms), outputs, after(i, to), width,
                              half);
  auto finish = [=]<size_t rest>() {
    size_t last = n - i - (rest - 1) * width;
    tileBlock<rest, true>(after(i, terms), outputs, after(i, to),
                          last < width ? last : width, half);
  };
  if constexpr (vectors == 4) {
    if (n - i > 3 * width)
      return finish.template operator()<4>();
    if (n - i > 2 * width)
      return finish.template operator()<3>();
  }
  if (n - i > width)
    return finish.template operator()<2>();
  if (n > i)
    finish.template operator()<1>();
}

//===-- Fixed point -------------------------------------------------------===//

// A plain loop, in which every line is a vector operation.
void addFixedProductsKernel(size_t n, double left, float power, double smallest,
                            const float *__restrict right,
                            const float *__restrict powers,
                            double *__restrict sums, double *__restrict beyond,
                            double *__restrict vanished) {
  constexpr double limit = 2147483648.0; // 2^15
  for (size_t j = 0; j < n; ++j) {
    double product = left * right[j];
    double rounded =
        __builtin_trunc(product + __builtin_copysign(0.5, product));
    rounded = power * powers[j] <= 0x1p-17f ? 0.0 : rounded;
    rounded = __builtin_fabs(product) < smallest ? 0.0 : rounded;
    vanished[j] += rounded == 0 && product != 0 ? 1.0 : 0.0;
    double sum = sums[j] + rounded;
    sums[j] = sum;
    double passed = sum >= limit ? 1.0 : 0.0;
    passed = sum <= -limit ? -1.0 : passed;
    beyond[j] = beyond[j] != 0 ? beyond[j] : passed;
  }
}

} // namespace

constinit const KernelTable ANEC_KERNEL_TABLE = {
    .roundToHalf = roundRow,
    .binary = binaryKernel,
    .unary = unaryKernel,
    .siluMul = siluMulKernel,
    .softmaxRows = softmaxRowsKernel,
    .scaledSoftmaxRow = scaledSoftmaxRowKernel,
    .softmaxColumns = softmaxColumnsKernel,
    .reduceRows = reduceRowsKernel,
    .reduceColumns = reduceColumnsKernel,
    .moments = momentsKernel,
    .normalizeRow = normalizeRowKernel,
    .normalizeElements = normalizeElementsKernel,
    .normalizeColumns = normalizeColumnsKernel,
    .firstBefore = firstBeforeKernel,
    .extremePlaces = extremePlacesKernel,
    .sumsSoFar = sumsSoFarKernel,
    .transpose = transposeKernel,
    .weightedSums = weightedSumsKernel,
    .tiledSums = tiledSumsKernel,
    .panelOutputs = mostPanelVectors * width,
    .vectorOutputs = width,
    .panelSums = panelSumsKernel,
    .addFixedProducts = addFixedProductsKernel,
};

} // namespace anec::cpu
