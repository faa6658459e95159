//===- FixedProducts.h - Products of integers in fixed point -------- -*- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Products of integer weights with a factor whose elements are 16-bit
/// integers: instructions multiply and add pairs of them exactly, two to four
/// times as many at once as of floats, and weights are widened half as far.
/// Sums of a group of columns become floats when the group's scales are
/// applied.
///
/// Numbers of four bits are read as words of four, so the factor is in the
/// order in which these are taken apart. See Lanes.h for what may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_FIXEDPRODUCTS_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_FIXEDPRODUCTS_H

#include "LaneSums.h"
#include "StoredReader.h"

namespace anec::cpu {
namespace {

using Shorts = int16_t __attribute__((vector_size(width * 4)));
using HalfWords = uint16_t __attribute__((vector_size(width * 4)));
constexpr size_t shortsWidth = 2 * width;

ANEC_INLINE HalfWords splatHalf(uint16_t x) {
  HalfWords v = {};
  for (size_t i = 0; i < shortsWidth; ++i)
    v[i] = x;
  return v;
}

/// Products of adjacent elements, added in pairs.
ANEC_INLINE Ints multiplyPairs(Shorts a, Shorts b) {
#if defined(__AVX512BW__)
  return (Ints)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Ints)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (Ints)_mm_madd_epi16((__m128i)a, (__m128i)b);
#elif defined(__aarch64__)
  int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
  return (Ints)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)),
                          vmull_high_s16(x, y));
#else
  Ints low = ((Ints)a << 16 >> 16) * ((Ints)b << 16 >> 16);
  return low + ((Ints)a >> 16) * ((Ints)b >> 16);
#endif
}

//===-- The factor --------------------------------------------------------===//

/// How many words of four numbers a vector has, and the groups of these.
constexpr size_t groupsOfVector = width / 4;

/// Where the kernels read element `k` of a column.
ANEC_INLINE size_t fixedPlace(StoredForm form, size_t k) {
  if (form != StoredForm::Index4)
    return k;
  constexpr size_t chunk = groupsOfVector * fixedGroup;
  size_t inChunk = k % chunk;
  return k - inChunk + inChunk % 4 * shortsWidth + inChunk / 4;
}

bool toFixedKernel(const StoredMatrix &weight, const StoredProduct &product,
                   const FixedFactor &factor) {
  constexpr size_t vectors = fixedGroup / width;
  for (size_t column = 0; column < product.n; ++column) {
    const float *x = product.x + column * product.strideX;
    size_t first = column * factor.groups;
    int16_t *values = factor.values + first * fixedGroup;
    size_t groups = weight.columns / fixedGroup;
    for (size_t group = 0; group < groups; ++group, x += fixedGroup) {
      Floats largest = {};
      for (size_t i = 0; i < vectors; ++i)
        largest = larger(largest, abs(load(x + i * width)));
      float most = 0;
      for (size_t i = 0; i < width; ++i)
        most =
            most < largest[i] || largest[i] != largest[i] ? largest[i] : most;
      if (!(most <= 0x1.fffffep127f))
        return false;
      // Below, the scale would not be normal.
      bool isZero = most < 0x1p-100f;
      float scale = isZero ? 0.0f : most / 32767.0f;
      Floats inverse = splat(isZero ? 0.0f : 32767.0f / most);
      int32_t sum = 0;
      alignas(64) int32_t rounded[fixedGroup];
      for (size_t i = 0; i < vectors; ++i) {
        Floats nearest = roundEven(load(x + i * width) * inverse);
        store(rounded + i * width, __builtin_convertvector(nearest, Ints));
      }
      for (size_t i = 0; i < fixedGroup; ++i) {
        values[fixedPlace(weight.form, group * fixedGroup + i)] =
            int16_t(rounded[i]);
        sum += rounded[i];
      }
      factor.scales[first + group] = scale;
      factor.sums[first + group] = float(sum) * scale;
    }
    for (size_t group = groups; group < factor.groups; ++group) {
      factor.scales[first + group] = factor.sums[first + group] = 0;
      for (size_t i = 0; i < fixedGroup; ++i)
        values[fixedPlace(weight.form, group * fixedGroup + i)] = 0;
    }
  }
  return true;
}

//===-- Scales ------------------------------------------------------------===//

/// The numbers of the blocks of `count` groups from `group` on, one for each
/// lane; `numbers` has one for each block of the row.
ANEC_INLINE Floats ofGroups(const StoredMatrix &weight,
                            const BlockNumbers &numbers, size_t group,
                            size_t count) {
  size_t each = weight.blockColumns / fixedGroup;
  if (weight.blockColumns >= weight.columns)
    return splat(numberAt(numbers, 0));
  if (each == 1)
    return firstNumbers(numbersFrom(numbers, group), count);
  Floats x = {};
  for (size_t i = 0; i < count; ++i)
    x[i] = numberAt(numbers, (group + i) / each);
  return x;
}

//===-- Products ----------------------------------------------------------===//

/// The scales of `width` groups, for `rows` rows and `n` columns.
template <size_t rows, size_t n>
using GroupScales = float[n][rows][width];

/// `rows` rows times `n` columns. What is indexed by a variable is not here, so
/// that the sums stay in registers.
template <StoredForm form, size_t rows, size_t n>
struct FixedBlock {
  const uint8_t *data[rows];
  const int16_t *values[n];
  Floats sums[n][rows] = {};

  ANEC_INLINE void add(Ints product, Floats scale, size_t j, size_t i) {
    sums[j][i] = multiplyAdd(__builtin_convertvector(product, Floats), scale,
                             sums[j][i]);
  }
  ANEC_INLINE void addBytes(size_t group, size_t count,
                            const GroupScales<rows, n> &scales);
  ANEC_INLINE void addFourBits(size_t group, size_t count, HalfWords flip,
                               const GroupScales<rows, n> &scales);
};

/// As many bytes as there are shorts in a vector.
template <StoredForm form>
struct BytesOf {
  using Type = uint8_t __attribute__((vector_size(shortsWidth)));
};
template <>
struct BytesOf<StoredForm::Int8> {
  using Type = int8_t __attribute__((vector_size(shortsWidth)));
};

/// Adds `count` groups of bytes, at most `width`.
template <StoredForm form, size_t rows, size_t n>
ANEC_INLINE void
FixedBlock<form, rows, n>::addBytes(size_t group, size_t count,
                                    const GroupScales<rows, n> &scales) {
  using Bytes = typename BytesOf<form>::Type;
  constexpr size_t vectors = fixedGroup / shortsWidth;
  for (size_t g = 0; g < count; ++g) {
    size_t at = (group + g) * fixedGroup;
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; ++i) {
      Shorts weights[vectors];
#pragma GCC unroll 4
      for (size_t part = 0; part < vectors; ++part)
        weights[part] = __builtin_convertvector(
            loadAs<Bytes>(data[i] + at + part * shortsWidth), Shorts);
#pragma GCC unroll 4
      for (size_t j = 0; j < n; ++j) {
        Ints product = {};
#pragma GCC unroll 4
        for (size_t part = 0; part < vectors; ++part)
          product +=
              multiplyPairs(weights[part], loadAs<Shorts>(values[j] + at +
                                                          part * shortsWidth));
        add(product, splat(scales[j][i][g]), j, i);
      }
    }
  }
}

/// The scales of the groups of one vector of words, each for the words of its
/// group.
ANEC_INLINE Floats spread(const float *scales) {
#if defined(__AVX512F__)
  const Ints lanes = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  return (Floats)_mm512_maskz_permutexvar_ps(
      allLanes, (__m512i)lanes,
      _mm512_maskz_broadcast_f32x4(allLanes, _mm_loadu_ps(scales)));
#elif defined(__AVX2__)
  return (Floats)_mm256_set_m128(_mm_broadcast_ss(scales + 1),
                                 _mm_broadcast_ss(scales));
#else
  return splat(*scales);
#endif
}

/// Adds `count` groups of numbers of four bits, at most `width`, as numbers
/// from 0 to 15.
template <StoredForm form, size_t rows, size_t n>
ANEC_INLINE void
FixedBlock<form, rows, n>::addFourBits(size_t group, size_t count,
                                       HalfWords flip,
                                       const GroupScales<rows, n> &scales) {
  constexpr size_t groupBytes = fixedGroup / 2;
  const HalfWords lowBits = splatHalf(15);
  for (size_t g = 0; g < count; g += groupsOfVector) {
    size_t at = (group + g) * groupBytes;
    size_t here = least(groupsOfVector, count - g);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; ++i) {
      const uint8_t *from = data[i] + at;
      HalfWords words = flip ^ readFirst<HalfWords>(from, here * groupBytes);
      Shorts weights[4];
#pragma GCC unroll 4
      for (size_t part = 0; part < 4; ++part) {
        HalfWords moved = words >> int(4 * part);
        weights[part] = (Shorts)(part == 3 ? moved : moved & lowBits);
      }
#pragma GCC unroll 4
      for (size_t j = 0; j < n; ++j) {
        Ints product = {};
#pragma GCC unroll 4
        for (size_t part = 0; part < 4; ++part)
          product +=
              multiplyPairs(weights[part], loadAs<Shorts>(values[j] + 2 * at +
                                                          part * shortsWidth));
        add(product, spread(scales[j][i] + g), j, i);
      }
    }
  }
}

/// Whether each group has a scale in fp16, one after the other, and no offset:
/// the blocks of 32 of most language models.
ANEC_INLINE bool hasHalfScales(const StoredMatrix &weight) {
  return weight.scales.data && weight.scales.isHalf && !weight.offsets.data &&
         weight.blockColumns == fixedGroup && weight.columns > fixedGroup;
}

template <StoredForm form, bool halfScales, size_t rows, size_t n>
void multiplyFixedBlock(const StoredMatrix &weight, size_t row,
                        const FixedFactor &factor, const StoredProduct &product,
                        size_t column) {
  constexpr bool hasFourBits = form == StoredForm::Index4;
  constexpr size_t ahead = 4096;
  const bool isFlipped = weight.fourBits == FourBits::Signed;
  const HalfWords flip = splatHalf(hasFourBits && isFlipped ? 0x8888 : 0);
  const float base = hasFourBits && isFlipped ? 8 : 0;
  FixedBlock<form, rows, n> block;
  alignas(64) GroupScales<rows, n> groupScales;
  BlockNumbers scales[rows], offsets[rows];
  for (size_t i = 0; i < rows; ++i) {
    block.data[i] = weight.data + (row + i) * weight.rowBytes;
    size_t first = firstBlock(weight, row + i);
    scales[i] = numbersFrom(weight.scales, first);
    offsets[i] = numbersFrom(weight.offsets, first);
  }
  for (size_t j = 0; j < n; ++j)
    block.values[j] = factor.values + (column + j) * factor.groups * fixedGroup;
  const auto addGroups = [&](size_t group, size_t count) ANEC_INLINE_LAMBDA {
    Floats scale[rows], shift[rows]; // Minus the offsets.
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; ++i) {
      const uint8_t *next =
          block.data[i] + group * fixedGroup * bitsOf(form) / 8;
      for (size_t line = 0; line < width * fixedGroup * bitsOf(form) / 8;
           line += 64)
        __builtin_prefetch(next + ahead + line);
      shift[i] = splat(-base);
      if constexpr (halfScales) {
        scale[i] = widenHalves(
            readFirst<Halves>(scales[i].data + 2 * group, 2 * count));
        continue;
      }
      scale[i] = scales[i].data ? ofGroups(weight, scales[i], group, count)
                                : splat(1.0f);
      if (offsets[i].data)
        shift[i] -= ofGroups(weight, offsets[i], group, count);
    }
#pragma GCC unroll 4
    for (size_t j = 0; j < n; ++j) {
      size_t at = (column + j) * factor.groups + group;
      Floats ofFactor = load(factor.scales + at), sum = load(factor.sums + at);
#pragma GCC unroll 4
      for (size_t i = 0; i < rows; ++i) {
        store(groupScales[j][i], scale[i] * ofFactor);
        if (hasFourBits || (!halfScales && weight.offsets.data))
          block.sums[j][i] =
              multiplyAdd(scale[i] * shift[i], sum, block.sums[j][i]);
      }
    }
    if constexpr (hasFourBits)
      block.addFourBits(group, count, flip, groupScales);
    else
      block.addBytes(group, count, groupScales);
  };
  const size_t groups = weight.columns / fixedGroup;
  size_t group = 0;
  for (; group + width <= groups; group += width)
    addGroups(group, width);
  if (group < groups)
    addGroups(group, groups - group);
  for (size_t j = 0; j < n; ++j) {
    float results[rows];
    addLanes<rows>(block.sums[j], results);
    float *out = product.out + (column + j) * product.columnOut;
    for (size_t i = 0; i < rows; ++i)
      out[(row + i) * product.rowOut] = results[i];
  }
}

template <StoredForm form, bool halfScales, size_t rows>
void multiplyFixedColumns(const StoredMatrix &weight, size_t row,
                          const FixedFactor &factor,
                          const StoredProduct &product) {
  size_t column = 0;
  for (; column + 4 <= product.n; column += 4)
    for (size_t i = 0; i < rows; i += least(rows, 2))
      multiplyFixedBlock<form, halfScales, rows == 1 ? 1 : 2, 4>(
          weight, row + i, factor, product, column);
  // Several streams within a page of memory are slower than one.
  for (; column < product.n; ++column)
    for (size_t i = 0; i < rows; ++i)
      multiplyFixedBlock<form, halfScales, 1, 1>(weight, row + i, factor,
                                                 product, column);
}

template <StoredForm form, bool halfScales>
void multiplyFixedRows(const StoredMatrix &weight, size_t row, size_t count,
                       const FixedFactor &factor,
                       const StoredProduct &product) {
  constexpr size_t rows = 4;
  size_t end = row + count;
  for (; row + rows <= end; row += rows)
    multiplyFixedColumns<form, halfScales, rows>(weight, row, factor, product);
  for (; row < end; ++row)
    multiplyFixedColumns<form, halfScales, 1>(weight, row, factor, product);
}

template <StoredForm form>
void multiplyFixedForm(const StoredMatrix &weight, size_t row, size_t count,
                       const FixedFactor &factor,
                       const StoredProduct &product) {
  // No kernel is added for unsigned bytes, which usually have offsets.
  if (form != StoredForm::UInt8 && hasHalfScales(weight))
    return multiplyFixedRows<form, form != StoredForm::UInt8>(
        weight, row, count, factor, product);
  multiplyFixedRows<form, false>(weight, row, count, factor, product);
}

void multiplyRowsFixedKernel(const StoredMatrix &weight, size_t row,
                             size_t count, const FixedFactor &factor,
                             const StoredProduct &product) {
  switch (weight.form) {
  case StoredForm::Int8:
    return multiplyFixedForm<StoredForm::Int8>(weight, row, count, factor,
                                               product);
  case StoredForm::UInt8:
    return multiplyFixedForm<StoredForm::UInt8>(weight, row, count, factor,
                                                product);
  default:
    return multiplyFixedForm<StoredForm::Index4>(weight, row, count, factor,
                                                 product);
  }
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_FIXEDPRODUCTS_H
