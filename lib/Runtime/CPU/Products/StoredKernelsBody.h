//===- StoredKernelsBody.h - Stored weights, for any width ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Defines the table ANEC_STORED_KERNELS for the instruction set that the
/// including file is compiled for. See Lanes.h for what may be included.
///
/// A product of few columns is bound by reading the weights. A few rows are
/// read at a time, a few kilobytes ahead of the arithmetic: the processor's own
/// prefetching stops at every page.
//===----------------------------------------------------------------------===//

#include "../Lanes.h"
#include "StoredMatrix.h"

namespace anec::cpu {
namespace {

ANEC_INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

//===-- Elements ----------------------------------------------------------===//

constexpr unsigned bitsOf(StoredForm form) {
  switch (form) {
  case StoredForm::Float32:
    return 32;
  case StoredForm::Float16:
  case StoredForm::BFloat16:
    return 16;
  case StoredForm::Int8:
  case StoredForm::UInt8:
  case StoredForm::Index8:
    return 8;
  case StoredForm::Index1:
    return 1;
  case StoredForm::Index2:
    return 2;
  case StoredForm::Index3:
    return 3;
  case StoredForm::Index4:
    return 4;
  case StoredForm::Index6:
    return 6;
  }
  return 0;
}
constexpr bool isIndex(StoredForm form) { return form >= StoredForm::Index1; }

template <typename T>
ANEC_INLINE T read(const uint8_t *from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

ANEC_INLINE float asFloat(uint32_t word) {
  float value;
  __builtin_memcpy(&value, &word, sizeof value);
  return value;
}

ANEC_INLINE float widenHalf(uint16_t half) {
  uint32_t magnitude = half & 0x7fffu;
  // Scaling by 2^112 moves the bias from 15 to 127 and normalizes subnormals.
  float scaled = asFloat(magnitude << 13) * 0x1p112f;
  uint32_t word;
  __builtin_memcpy(&word, &scaled, sizeof word);
  uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0;
  if (magnitude >= 0x7c00u)
    word = magnitude << 13 | 0x7f800000u | quiet;
  return asFloat(word | uint32_t(half & 0x8000u) << 16);
}

template <unsigned bits>
ANEC_INLINE uint32_t indexAt(const uint8_t *row, size_t column) {
  size_t bit = column * bits;
  uint32_t word = row[bit / 8];
  if (bit % 8 + bits > 8)
    word |= uint32_t(row[bit / 8 + 1]) << 8;
  return word >> bit % 8 & ((1u << bits) - 1);
}

/// One element, before scale and offset.
template <StoredForm form>
ANEC_INLINE float valueAt(const uint8_t *row, const float *table,
                          size_t column) {
  if constexpr (form == StoredForm::Float32)
    return read<float>(row + column * 4);
  else if constexpr (form == StoredForm::Float16)
    return widenHalf(read<uint16_t>(row + column * 2));
  else if constexpr (form == StoredForm::BFloat16)
    return asFloat(uint32_t(read<uint16_t>(row + column * 2)) << 16);
  else if constexpr (form == StoredForm::Int8)
    return float(int8_t(row[column]));
  else if constexpr (form == StoredForm::UInt8)
    return float(row[column]);
  else
    return table[indexAt<bitsOf(form)>(row, column)];
}

//===-- Vectors -----------------------------------------------------------===//

/// Reads vectors of a row. `at` takes columns that are multiples of `width`.
template <StoredForm form>
struct Reader {
  const uint8_t *row;
  const float *table;

  ANEC_INLINE void start(const StoredMatrix &weight, size_t number) {
    row = weight.data + number * weight.rowBytes;
  }
  ANEC_INLINE void enter(const float *ofBlock) { table = ofBlock; }
  ANEC_INLINE const uint8_t *place(size_t column) const {
    return row + column * bitsOf(form) / 8;
  }
  ANEC_INLINE Floats first(size_t column, size_t count) const {
    Floats x = {};
    for (size_t i = 0; i < count; ++i)
      x[i] = valueAt<form>(row, table, column + i);
    return x;
  }
  ANEC_INLINE Floats at(size_t column) const;
};

template <>
ANEC_INLINE Floats Reader<StoredForm::Float32>::at(size_t column) const {
  return loadAs<Floats>(place(column));
}

template <>
ANEC_INLINE Floats Reader<StoredForm::Float16>::at(size_t column) const {
#if defined(__AVX512F__)
  return (Floats)_mm512_maskz_cvtph_ps(allLanes, read<__m256i>(place(column)));
#elif defined(__AVX2__)
  return (Floats)_mm256_cvtph_ps(read<__m128i>(place(column)));
#elif defined(__aarch64__)
  return (Floats)vcvt_f32_f16(
      vreinterpret_f16_u16(read<uint16x4_t>(place(column))));
#else
  using Halves = uint16_t __attribute__((vector_size(width * 2)));
  Words half = __builtin_convertvector(read<Halves>(place(column)), Words);
  Words magnitude = half & 0x7fffu;
  Words scaled = bits(fromBits(magnitude << 13) * 0x1p112f);
  Words quiet = magnitude > 0x7c00u ? Words{} + 0x400000u : Words{};
  Words special = magnitude << 13 | 0x7f800000u | quiet;
  Words word = magnitude >= 0x7c00u ? special : scaled;
  return fromBits(word | (half & 0x8000u) << 16);
#endif
}

template <>
ANEC_INLINE Floats Reader<StoredForm::BFloat16>::at(size_t column) const {
  using Halves = uint16_t __attribute__((vector_size(width * 2)));
  return fromBits(__builtin_convertvector(read<Halves>(place(column)), Words)
                  << 16);
}

template <>
ANEC_INLINE Floats Reader<StoredForm::Int8>::at(size_t column) const {
#if defined(__AVX512F__)
  Ints x =
      (Ints)_mm512_maskz_cvtepi8_epi32(allLanes, read<__m128i>(place(column)));
#elif defined(__AVX2__)
  Ints x = (Ints)_mm256_cvtepi8_epi32(
      _mm_loadl_epi64((const __m128i *)place(column)));
#else
  using Chars = int8_t __attribute__((vector_size(width)));
  Ints x = __builtin_convertvector(read<Chars>(place(column)), Ints);
#endif
  return __builtin_convertvector(x, Floats);
}

/// Unsigned bytes as integers.
ANEC_INLINE Ints widenBytes(const uint8_t *from) {
#if defined(__AVX512F__)
  return (Ints)_mm512_maskz_cvtepu8_epi32(allLanes, read<__m128i>(from));
#elif defined(__AVX2__)
  return (Ints)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)from));
#else
  using Chars = uint8_t __attribute__((vector_size(width)));
  return __builtin_convertvector(read<Chars>(from), Ints);
#endif
}

template <>
ANEC_INLINE Floats Reader<StoredForm::UInt8>::at(size_t column) const {
  return __builtin_convertvector(widenBytes(place(column)), Floats);
}

ANEC_INLINE Floats lookUp(const float *table, Ints indices) {
#if defined(__AVX512F__)
  return (Floats)_mm512_mask_i32gather_ps((__m512)Floats{}, allLanes,
                                          (__m512i)indices, table, 4);
#elif defined(__AVX2__)
  return (Floats)_mm256_i32gather_ps(table, (__m256i)indices, 4);
#else
  Floats x = {};
  for (size_t i = 0; i < width; ++i)
    x[i] = table[indices[i]];
  return x;
#endif
}

template <>
ANEC_INLINE Floats Reader<StoredForm::Index8>::at(size_t column) const {
  return lookUp(table, widenBytes(place(column)));
}

template <StoredForm form>
ANEC_INLINE Floats Reader<form>::at(size_t column) const {
  // The bits of a vector are whole bytes, at most 12.
  constexpr unsigned bits = bitsOf(form);
  constexpr size_t each = width < 8 ? width : 8; // bits of so many fit a word
  Ints indices = {};
  for (size_t first = 0; first < width; first += each) {
    uint64_t word = 0;
    __builtin_memcpy(&word, place(column + first), (each * bits + 7) / 8);
    word >>= (column + first) * bits % 8;
    for (size_t i = 0; i < each; ++i)
      indices[first + i] = int32_t(word >> i * bits & ((1u << bits) - 1));
  }
  return lookUp(table, indices);
}

#if defined(__AVX2__)
/// The table is in registers.
template <>
struct Reader<StoredForm::Index4> {
  static constexpr StoredForm form = StoredForm::Index4;
  const uint8_t *row;
  const float *table;
  Floats entries[16 / width];

  ANEC_INLINE void start(const StoredMatrix &weight, size_t number) {
    row = weight.data + number * weight.rowBytes;
  }
  ANEC_INLINE void enter(const float *ofBlock) {
    table = ofBlock;
    for (size_t i = 0; i < 16 / width; ++i)
      entries[i] = load(ofBlock + i * width);
  }
  ANEC_INLINE const uint8_t *place(size_t column) const {
    return row + column / 2;
  }
  ANEC_INLINE Floats first(size_t column, size_t count) const {
    Floats x = {};
    for (size_t i = 0; i < count; ++i)
      x[i] = valueAt<form>(row, table, column + i);
    return x;
  }
  ANEC_INLINE Floats at(size_t column) const {
    const uint8_t *from = place(column);
#if defined(__AVX512F__)
    // Each lane moves its four bits to the bottom; the lookup ignores others.
    Words low = Words{} + read<uint32_t>(from);
    Words high = Words{} + read<uint32_t>(from + 4);
    Words words =
        (Words)_mm512_mask_mov_epi32((__m512i)low, 0xff00, (__m512i)high);
    words >>= Words{0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28};
    return (Floats)_mm512_maskz_permutexvar_ps(allLanes, (__m512i)words,
                                               (__m512)entries[0]);
#else
    Words words = Words{} + read<uint32_t>(from);
    words >>= Words{0, 4, 8, 12, 16, 20, 24, 28};
    __m256 low = _mm256_permutevar8x32_ps((__m256)entries[0], (__m256i)words);
    __m256 high = _mm256_permutevar8x32_ps((__m256)entries[1], (__m256i)words);
    return (Floats)_mm256_blendv_ps(low, high, (__m256)(words << 28));
#endif
  }
};
#endif

#if defined(__AVX512F__)
template <>
struct Reader<StoredForm::Index6> {
  static constexpr StoredForm form = StoredForm::Index6;
  const uint8_t *row;
  const float *table;
  Floats entries[4];

  ANEC_INLINE void start(const StoredMatrix &weight, size_t number) {
    row = weight.data + number * weight.rowBytes;
  }
  ANEC_INLINE void enter(const float *ofBlock) {
    table = ofBlock;
    for (size_t i = 0; i < 4; ++i)
      entries[i] = load(ofBlock + i * width);
  }
  ANEC_INLINE const uint8_t *place(size_t column) const {
    return row + column / 4 * 3;
  }
  ANEC_INLINE Floats first(size_t column, size_t count) const {
    Floats x = {};
    for (size_t i = 0; i < count; ++i)
      x[i] = valueAt<form>(row, table, column + i);
    return x;
  }
  ANEC_INLINE Floats at(size_t column) const {
    // Three bytes hold four indices: each quarter of the vector gets its three
    // in all lanes, and each lane moves its six bits to the bottom.
    const uint8_t *from = place(column);
    __m128i twelve = _mm_set_epi32(0, int32_t(read<uint32_t>(from + 8)),
                                   int32_t(read<uint32_t>(from + 4)),
                                   int32_t(read<uint32_t>(from)));
    const Words spread = {0x80020100, 0x80020100, 0x80020100, 0x80020100,
                          0x80050403, 0x80050403, 0x80050403, 0x80050403,
                          0x80080706, 0x80080706, 0x80080706, 0x80080706,
                          0x800b0a09, 0x800b0a09, 0x800b0a09, 0x800b0a09};
    __m512i words = _mm512_maskz_shuffle_epi8(
        ~__mmask64(0), _mm512_maskz_broadcast_i32x4(allLanes, twelve),
        (__m512i)spread);
    words = (__m512i)((Words)words >> Words{0, 6, 12, 18, 0, 6, 12, 18, 0, 6,
                                            12, 18, 0, 6, 12, 18});
    __m512 low = _mm512_maskz_permutex2var_ps(allLanes, (__m512)entries[0],
                                              words, (__m512)entries[1]);
    __m512 high = _mm512_maskz_permutex2var_ps(allLanes, (__m512)entries[2],
                                               words, (__m512)entries[3]);
    __mmask16 upper = _mm512_test_epi32_mask(words, (__m512i)(Words{} + 32u));
    return (Floats)_mm512_mask_blend_ps(upper, low, high);
  }
};
#endif

//===-- Sums --------------------------------------------------------------===//

using Four = float __attribute__((vector_size(16)));

ANEC_INLINE Four foldToFour(Floats x) {
#if defined(__AVX512F__)
  __m256 half = _mm256_add_ps(_mm512_maskz_extractf32x8_ps(0xff, (__m512)x, 0),
                              _mm512_maskz_extractf32x8_ps(0xff, (__m512)x, 1));
  return (Four)_mm_add_ps(_mm256_castps256_ps128(half),
                          _mm256_extractf128_ps(half, 1));
#elif defined(__AVX2__)
  return (Four)_mm_add_ps(_mm256_castps256_ps128((__m256)x),
                          _mm256_extractf128_ps((__m256)x, 1));
#else
  return (Four)x;
#endif
}

/// The sums of the elements of `count` vectors, 1, 2 or 4, each added in the
/// same order.
template <size_t count>
ANEC_INLINE void addLanes(const Floats *vectors, float *sums) {
  Four x[count];
  for (size_t i = 0; i < count; ++i)
    x[i] = foldToFour(vectors[i]);
#if defined(__x86_64__)
  if constexpr (count == 4) {
    __m128 a = (__m128)x[0], b = (__m128)x[1], c = (__m128)x[2],
           d = (__m128)x[3];
    __m128 ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
    __m128 cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
    _mm_storeu_ps(sums,
                  _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab)));
    return;
  }
#endif
  for (size_t i = 0; i < count; ++i)
    sums[i] = (x[i][0] + x[i][2]) + (x[i][1] + x[i][3]);
}

//===-- Products ----------------------------------------------------------===//

/// Whether scales, offsets and tables change only between vectors.
ANEC_INLINE bool isAligned(const StoredMatrix &weight) {
  return weight.blockColumns >= weight.columns ||
         weight.blockColumns % width == 0;
}
/// Whether a row has one scale, which can be applied to its sum.
ANEC_INLINE bool scalesSums(const StoredMatrix &weight) {
  return weight.scales && !weight.offsets &&
         weight.blockColumns >= weight.columns;
}

ANEC_INLINE size_t firstBlock(const StoredMatrix &weight, size_t row) {
  return row / weight.blockRows *
         ((weight.columns + weight.blockColumns - 1) / weight.blockColumns);
}

/// `rows` rows times `n` columns; `adjusted` means that elements have scales or
/// offsets to apply.
template <StoredForm form, bool adjusted, size_t rows, size_t n>
void multiplyBlock(const StoredMatrix &weight, size_t row,
                   const StoredProduct &product, size_t column) {
  // With one column, two sums for each row hide the latency of additions.
  constexpr size_t parts = n == 1 ? 2 : 1;
  constexpr size_t ahead = 8192;
  const float *x = product.x + column * product.strideX;
  const size_t strideX = product.strideX;
  Reader<form> readers[rows];
  size_t blocks[rows];
  for (size_t i = 0; i < rows; ++i) {
    readers[i].start(weight, row + i);
    blocks[i] = firstBlock(weight, row + i);
  }
  Floats scale[rows], offset[rows];
  Floats sums[n][parts][rows] = {};
  const auto add = [&](size_t k, size_t part, const Floats *values)
                       ANEC_INLINE_LAMBDA {
#pragma GCC unroll 8
                         for (size_t j = 0; j < n; ++j) {
                           Floats factor = load(x + j * strideX + k);
#pragma GCC unroll 4
                           for (size_t i = 0; i < rows; ++i) {
                             Floats value = values[i];
                             sums[j][part][i] += value * factor;
                           }
                         }
                       };
  const auto adjust = [&](Floats value, size_t i) ANEC_INLINE_LAMBDA {
    if constexpr (adjusted)
      return (value - offset[i]) * scale[i];
    else
      return value;
  };
  for (size_t begin = 0; begin < weight.columns; begin += weight.blockColumns) {
    size_t end = least(weight.columns - begin, weight.blockColumns) + begin;
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; ++i) {
      size_t block = blocks[i]++;
      if constexpr (adjusted) {
        scale[i] = splat(weight.scales ? weight.scales[block] : 1.0f);
        offset[i] = splat(weight.offsets ? weight.offsets[block] : 0.0f);
      }
      if constexpr (isIndex(form))
        readers[i].enter(weight.tables + block * weight.tableSize);
    }
    size_t k = begin;
    for (; k + parts * width <= end; k += parts * width) {
#pragma GCC unroll 4
      for (size_t i = 0; i < rows; ++i)
        __builtin_prefetch(readers[i].place(k) + ahead);
#pragma GCC unroll 2
      for (size_t part = 0; part < parts; ++part) {
        Floats values[rows];
#pragma GCC unroll 4
        for (size_t i = 0; i < rows; ++i)
          values[i] = adjust(readers[i].at(k + part * width), i);
        add(k + part * width, part, values);
      }
    }
    for (; k < end; k += width) {
      Floats values[rows];
      for (size_t i = 0; i < rows; ++i) {
        size_t count = least(width, end - k);
        values[i] =
            count == width ? readers[i].at(k) : readers[i].first(k, count);
        values[i] = adjust(values[i], i);
      }
      add(k, 0, values);
    }
  }
  for (size_t j = 0; j < n; ++j) {
    Floats whole[rows];
    float results[rows];
    for (size_t i = 0; i < rows; ++i)
      whole[i] =
          parts == 2 ? sums[j][0][i] + sums[j][parts - 1][i] : sums[j][0][i];
    addLanes<rows>(whole, results);
    float *out = product.out + (column + j) * product.columnOut;
    for (size_t i = 0; i < rows; ++i) {
      if (!adjusted && weight.scales)
        results[i] *= weight.scales[firstBlock(weight, row + i)];
      out[(row + i) * product.rowOut] = results[i];
    }
  }
}

/// Rows [row, row + rows) times all columns, a few columns at a time: the rows
/// stay in the cache.
template <StoredForm form, bool adjusted, size_t rows>
void multiplyColumns(const StoredMatrix &weight, size_t row,
                     const StoredProduct &product) {
  // As many sums as there are registers for.
  constexpr size_t most = width == 16 ? 8 : 4;
  size_t column = 0;
  const auto run = [&]<size_t n>() ANEC_INLINE_LAMBDA {
    constexpr size_t together = n == most && rows > 2 ? 2 : rows;
    for (; column + n <= product.n; column += n)
      for (size_t i = 0; i < rows; i += together)
        multiplyBlock<form, adjusted, together, n>(weight, row + i, product,
                                                   column);
  };
  if constexpr (most == 8)
    run.template operator()<8>();
  run.template operator()<4>();
  run.template operator()<2>();
  run.template operator()<1>();
}

template <StoredForm form, bool adjusted>
void multiplyAligned(const StoredMatrix &weight, size_t row, size_t end,
                     const StoredProduct &product) {
  // Tables of more than a register leave less room for sums.
  constexpr bool largeTable =
      form == StoredForm::Index6 || (isIndex(form) && width < 16);
  constexpr size_t rows = largeTable ? 2 : 4;
  for (; row + rows <= end; row += rows)
    multiplyColumns<form, adjusted, rows>(weight, row, product);
  for (; row < end; ++row)
    multiplyColumns<form, adjusted, 1>(weight, row, product);
}

template <StoredForm form>
void unpackForm(const StoredMatrix &weight, size_t number, size_t column,
                size_t count, float *out) {
  Reader<form> reader;
  reader.start(weight, number);
  size_t before = firstBlock(weight, number), end = column + count;
  while (column < end) {
    size_t block = column / weight.blockColumns;
    size_t blockEnd = least(end, (block + 1) * weight.blockColumns);
    block += before;
    if constexpr (isIndex(form))
      reader.enter(weight.tables + block * weight.tableSize);
    float scale = weight.scales ? weight.scales[block] : 1.0f;
    float offset = weight.offsets ? weight.offsets[block] : 0.0f;
    for (size_t step; column < blockEnd; column += step, out += step) {
      if (column % width == 0 && column + width <= blockEnd) {
        step = width;
        store(out, (reader.at(column) - offset) * scale);
        continue;
      }
      step = 1;
      *out = (reader.first(column, 1)[0] - offset) * scale;
    }
  }
}

/// Of blocks that divide vectors, and of rare forms: unpacked first, a part of
/// a row at a time.
template <StoredForm form>
void multiplyUnaligned(const StoredMatrix &weight, size_t row, size_t end,
                       const StoredProduct &product) {
  constexpr size_t chunk = 1024;
  alignas(64) float elements[chunk];
  for (; row < end; ++row) {
    float totals[fewColumns] = {}, sums[fewColumns];
    for (size_t k = 0; k < weight.columns; k += chunk) {
      StoredMatrix part;
      part.rows = 1;
      part.columns = part.blockColumns = least(chunk, weight.columns - k);
      part.data = (const uint8_t *)elements;
      unpackForm<form>(weight, row, k, part.columns, elements);
      StoredProduct here = product;
      here.x += k;
      here.out = sums;
      here.columnOut = 1;
      multiplyColumns<StoredForm::Float32, false, 1>(part, 0, here);
      for (size_t j = 0; j < product.n; ++j)
        totals[j] += sums[j];
    }
    for (size_t j = 0; j < product.n; ++j)
      product.out[row * product.rowOut + j * product.columnOut] = totals[j];
  }
}

template <StoredForm form>
void multiplyForm(const StoredMatrix &weight, size_t row, size_t count,
                  const StoredProduct &product) {
  constexpr bool hasBlocks = bitsOf(form) <= 8, isRare = bitsOf(form) < 4;
  if constexpr (isRare)
    return multiplyUnaligned<form>(weight, row, row + count, product);
  if (hasBlocks && !isAligned(weight))
    return multiplyUnaligned<form>(weight, row, row + count, product);
  bool adjusted = (weight.scales && !scalesSums(weight)) || weight.offsets;
  if constexpr (!isRare) {
    if (hasBlocks && adjusted)
      return multiplyAligned<form, hasBlocks>(weight, row, row + count,
                                              product);
    multiplyAligned<form, false>(weight, row, row + count, product);
  }
}

//===-- The table ---------------------------------------------------------===//

#define ANEC_FOR_FORM(form, function, ...)                                     \
  switch (form) {                                                              \
  case StoredForm::Float32:                                                    \
    return function<StoredForm::Float32>(__VA_ARGS__);                         \
  case StoredForm::Float16:                                                    \
    return function<StoredForm::Float16>(__VA_ARGS__);                         \
  case StoredForm::BFloat16:                                                   \
    return function<StoredForm::BFloat16>(__VA_ARGS__);                        \
  case StoredForm::Int8:                                                       \
    return function<StoredForm::Int8>(__VA_ARGS__);                            \
  case StoredForm::UInt8:                                                      \
    return function<StoredForm::UInt8>(__VA_ARGS__);                           \
  case StoredForm::Index1:                                                     \
    return function<StoredForm::Index1>(__VA_ARGS__);                          \
  case StoredForm::Index2:                                                     \
    return function<StoredForm::Index2>(__VA_ARGS__);                          \
  case StoredForm::Index3:                                                     \
    return function<StoredForm::Index3>(__VA_ARGS__);                          \
  case StoredForm::Index4:                                                     \
    return function<StoredForm::Index4>(__VA_ARGS__);                          \
  case StoredForm::Index6:                                                     \
    return function<StoredForm::Index6>(__VA_ARGS__);                          \
  case StoredForm::Index8:                                                     \
    return function<StoredForm::Index8>(__VA_ARGS__);                          \
  }

void multiplyRowsKernel(const StoredMatrix &weight, size_t row, size_t count,
                        const StoredProduct &product) {
  ANEC_FOR_FORM(weight.form, multiplyForm, weight, row, count, product)
}

void unpackKernel(const StoredMatrix &weight, size_t row, size_t column,
                  size_t count, float *out) {
  ANEC_FOR_FORM(weight.form, unpackForm, weight, row, column, count, out)
}

#undef ANEC_FOR_FORM

} // namespace

constinit const StoredKernels ANEC_STORED_KERNELS = {
    .multiplyRows = multiplyRowsKernel,
    .unpack = unpackKernel,
};

} // namespace anec::cpu
