//===- StoredReader.h - Elements as they are stored, as vectors -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Reads elements of each form of StoredMatrix as floats, before scales and
/// offsets. See Lanes.h for what may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_STOREDREADER_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_STOREDREADER_H

#include "../Lanes.h"
#include "StoredMatrix.h"

namespace anec::cpu {
namespace {

ANEC_INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

/// The block with the first elements of a row.
ANEC_INLINE size_t firstBlock(const StoredMatrix &weight, size_t row) {
  return row / weight.blockRows *
         ((weight.columns + weight.blockColumns - 1) / weight.blockColumns);
}

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

/// The first `bytes` of a vector, and zeros. A choice between two vectors would
/// take them apart; between two places it does not.
template <typename Vector>
ANEC_INLINE Vector readFirst(const uint8_t *from, size_t bytes) {
  alignas(64) uint8_t copy[sizeof(Vector)] = {};
  if (bytes < sizeof(Vector)) {
    __builtin_memcpy(copy, from, bytes);
    from = copy;
  }
  return read<Vector>(from);
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

/// As many fp16 numbers as there are floats in a vector, as their bits.
using Halves = uint16_t __attribute__((vector_size(width * 2)));

ANEC_INLINE Floats widenHalves(Halves halves) {
#if defined(__AVX512F__)
  return (Floats)_mm512_maskz_cvtph_ps(allLanes, (__m256i)halves);
#elif defined(__AVX2__)
  return (Floats)_mm256_cvtph_ps((__m128i)halves);
#elif defined(__aarch64__)
  return (Floats)vcvt_f32_f16(vreinterpret_f16_u16((uint16x4_t)halves));
#else
  Words half = __builtin_convertvector(halves, Words);
  Words magnitude = half & 0x7fffu;
  Words scaled = bits(fromBits(magnitude << 13) * 0x1p112f);
  Words quiet = magnitude > 0x7c00u ? Words{} + 0x400000u : Words{};
  Words special = magnitude << 13 | 0x7f800000u | quiet;
  Words word = magnitude >= 0x7c00u ? special : scaled;
  return fromBits(word | (half & 0x8000u) << 16);
#endif
}

//===-- Numbers of blocks -------------------------------------------------===//

/// The numbers from a block on.
ANEC_INLINE BlockNumbers numbersFrom(const BlockNumbers &numbers,
                                     size_t block) {
  size_t bytes = numbers.isHalf ? 2 : 4;
  return {numbers.data ? numbers.data + block * bytes : nullptr,
          numbers.isHalf};
}

/// The number of a block.
ANEC_INLINE float numberAt(const BlockNumbers &numbers, size_t block) {
  if (!numbers.isHalf)
    return read<float>(numbers.data + block * 4);
  uint16_t half = read<uint16_t>(numbers.data + block * 2);
#if defined(__F16C__)
  return _cvtsh_ss(half);
#else
  return widenHalf(half);
#endif
}

/// The numbers of the first `count` blocks, at most `width`.
ANEC_INLINE Floats firstNumbers(const BlockNumbers &numbers, size_t count) {
  if (numbers.isHalf)
    return widenHalves(readFirst<Halves>(numbers.data, count * 2));
  return readFirst<Floats>(numbers.data, count * 4);
}

//===-- Elements of rows --------------------------------------------------===//

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
  return widenHalves(read<Halves>(place(column)));
}

template <>
ANEC_INLINE Floats Reader<StoredForm::BFloat16>::at(size_t column) const {
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

#if defined(__AVX2__) || defined(__aarch64__)
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
#elif defined(__aarch64__)
    // The four bytes of an entry are looked up like any others.
    Words words = Words{} + read<uint16_t>(from);
    words = words >> Words{0, 4, 8, 12} & 15u;
    words = words * 0x04040404u + 0x03020100u;
    uint8x16x4_t bytes = {
        {(uint8x16_t)entries[0],
         (uint8x16_t)entries[1],
         (uint8x16_t)entries[2],
         (uint8x16_t)entries[3] }};
    return (Floats)vqtbl4q_u8(bytes, (uint8x16_t)words);
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

} // namespace
} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_STOREDREADER_H
