//===- Lanes.h - The vectors of one instruction set -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The widest float vector of the instruction set that the including file is
/// compiled for, with the few operations that compilers do not derive from
/// arithmetic on vector types.
///
/// Files that include this are compiled several times, some for processors that
/// this machine may not be. So everything here has internal linkage, and no
/// header with inline functions may be included besides intrinsics: the linker
/// would be free to keep the copy that only a newer processor can run.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_LANES_H
#define ANEC_RUNTIME_CPU_LANES_H

#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define ANEC_INLINE inline __attribute__((always_inline))
#define ANEC_INLINE_LAMBDA __attribute__((always_inline))

namespace anec::cpu {
namespace {

#if defined(__AVX512F__)
constexpr size_t width = 16;
// The unmasked intrinsics of GCC 12 warn of uninitialised variables.
constexpr __mmask16 allLanes = 0xffff;
#elif defined(__AVX2__)
constexpr size_t width = 8;
#else
constexpr size_t width = 4;
#endif

/// How many vectors the processor holds.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr size_t vectorRegisters = 32;
#else
constexpr size_t vectorRegisters = 16;
#endif

using Floats = float __attribute__((vector_size(width * 4)));
using Ints = int32_t __attribute__((vector_size(width * 4)));
using Words = uint32_t __attribute__((vector_size(width * 4)));
using FloatsHalf = float __attribute__((vector_size(width * 2)));
using Doubles = double __attribute__((vector_size(width * 4)));
using Longs = int64_t __attribute__((vector_size(width * 4)));

ANEC_INLINE Floats splat(float x) { return x - Floats{}; }
ANEC_INLINE Words bits(Floats x) { return (Words)x; }
ANEC_INLINE Floats fromBits(Words x) { return (Floats)x; }

template <typename Vector, typename Element>
ANEC_INLINE Vector loadAs(const Element *from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <typename Vector, typename Element>
ANEC_INLINE Vector loadPart(const Element *from, size_t count) {
  Vector v = {};
  __builtin_memcpy(&v, from, count * sizeof(Element));
  return v;
}
ANEC_INLINE Floats load(const float *from) { return loadAs<Floats>(from); }

template <typename Vector, typename Element>
ANEC_INLINE void store(Element *to, Vector v) {
  __builtin_memcpy(to, &v, sizeof v);
}
template <typename Vector, typename Element>
ANEC_INLINE void storePart(Element *to, Vector v, size_t count) {
  __builtin_memcpy(to, &v, count * sizeof(Element));
}

/// Loads the first elements of vectors, and zeros for the others, or stores
/// them, without touching the others.
#if defined(__AVX512F__)
struct FirstLanes {
  explicit ANEC_INLINE FirstLanes(size_t count)
      : mask(__mmask16((1u << count) - 1)) {}
  ANEC_INLINE Floats load(const float *from) const {
    return (Floats)_mm512_maskz_loadu_ps(mask, from);
  }
  ANEC_INLINE void store(float *to, Floats x) const {
    _mm512_mask_storeu_ps(to, mask, (__m512)x);
  }
  __mmask16 mask;
};
#elif defined(__AVX2__)
struct FirstLanes {
  explicit ANEC_INLINE FirstLanes(size_t count) {
    Ints lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    mask = (__m256i)(lanes < int32_t(count));
  }
  ANEC_INLINE Floats load(const float *from) const {
    return (Floats)_mm256_maskload_ps(from, mask);
  }
  ANEC_INLINE void store(float *to, Floats x) const {
    _mm256_maskstore_ps(to, mask, (__m256)x);
  }
  __m256i mask;
};
#else
struct FirstLanes {
  explicit ANEC_INLINE FirstLanes(size_t count) : count(count) {}
  ANEC_INLINE Floats load(const float *from) const {
    return loadPart<Floats>(from, count);
  }
  ANEC_INLINE void store(float *to, Floats x) const { storePart(to, x, count); }
  size_t count;
};
#endif
/// `x` with lanes from `count` on replaced by `filler`.
ANEC_INLINE Floats fillFrom(size_t count, Floats x, float filler) {
  Ints lanes;
  for (size_t i = 0; i < width; ++i)
    lanes[i] = int32_t(i);
  return lanes < int32_t(count) ? x : splat(filler);
}

ANEC_INLINE Floats abs(Floats x) { return fromBits(bits(x) & 0x7fffffffu); }
ANEC_INLINE Floats copySign(Floats magnitude, Floats sign) {
  return fromBits((bits(magnitude) & 0x7fffffffu) | (bits(sign) & 0x80000000u));
}

/// The second operand only if it compares true: NaN in the first stays, and
/// one in the second does not count.
ANEC_INLINE Floats max(Floats a, Floats b) { return a < b ? b : a; }
ANEC_INLINE Floats min(Floats a, Floats b) { return b < a ? b : a; }
/// NaN if one of the operands is.
ANEC_INLINE Floats larger(Floats a, Floats b) {
  return ((a < b) | (b != b)) ? b : a;
}
ANEC_INLINE Floats smaller(Floats a, Floats b) {
  return ((b < a) | (b != b)) ? b : a;
}

ANEC_INLINE bool any(Ints mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

ANEC_INLINE Floats squareRoot(Floats x) {
#if defined(__AVX512F__)
  return (Floats)_mm512_maskz_sqrt_ps(allLanes, (__m512)x);
#elif defined(__AVX2__)
  return (Floats)_mm256_sqrt_ps((__m256)x);
#elif defined(__x86_64__)
  return (Floats)_mm_sqrt_ps((__m128)x);
#elif defined(__aarch64__)
  return (Floats)vsqrtq_f32((float32x4_t)x);
#else
  for (size_t i = 0; i < width; ++i)
    x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

/// a * b + c, rounded once where there is an instruction for that. Compilers
/// contract `a * b + c` in some places of a kernel and not in others, for
/// different bits.
ANEC_INLINE Floats multiplyAdd(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return (Floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (Floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
  return (Floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}

/// To the nearest integer, ties to even.
ANEC_INLINE Floats roundEven(Floats x) {
  // Below 2^23, adding and subtracting 2^23 leaves the integer part; from there
  // on (and for NaN), x is unchanged.
  Floats magic = copySign(splat(0x1p23f), x);
  Floats rounded = copySign((x + magic) - magic, x);
  return abs(x) < 0x1p23f ? rounded : x;
}
ANEC_INLINE Floats floor(Floats x) {
  Floats rounded = roundEven(x);
  return x < rounded ? rounded - 1.0f : rounded;
}
ANEC_INLINE Floats ceil(Floats x) {
  Floats rounded = roundEven(x);
  return copySign(rounded < x ? rounded + 1.0f : rounded, x);
}

/// The nearest fp16 value, ties to even, as fp32.
ANEC_INLINE Floats roundToHalf(Floats x) {
#if defined(__AVX512F__)
  return (Floats)_mm512_maskz_cvtph_ps(
      allLanes, _mm512_maskz_cvtps_ph(allLanes, (__m512)x, 0));
#elif defined(__AVX2__)
  return (Floats)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)x, 0));
#elif defined(__aarch64__)
  return (Floats)vcvt_f32_f16(vcvt_f16_f32((float32x4_t)x));
#else
  Floats magnitude = abs(x);
  Words w = bits(magnitude);
  Words normal = (w + 0xfffu + ((w >> 13) & 1u)) & ~0x1fffu;
  normal = normal >= 0x47800000u ? Words{} + 0x7f800000u : normal;
  // fp16's subnormals are the multiples of 2^-24, the spacing of fp32 at 0.5.
  Words subnormal = bits((magnitude + 0.5f) - 0.5f);
  Words result = magnitude < 0x1p-14f ? subnormal : normal;
  result = w > 0x7f800000u ? w | 0x400000u : result;
  return fromBits(result | (bits(x) & 0x80000000u));
#endif
}

/// `x` as it is stored.
template <bool half>
ANEC_INLINE Floats rounded(Floats x) {
  if constexpr (half)
    return roundToHalf(x);
  else
    return x;
}

/// One vector of floats in fp64.
struct DoublePair {
  Doubles low, high;
};
ANEC_INLINE DoublePair widen(Floats x) {
  FloatsHalf parts[2];
  __builtin_memcpy(parts, &x, sizeof x);
  return {__builtin_convertvector(parts[0], Doubles),
          __builtin_convertvector(parts[1], Doubles)};
}
ANEC_INLINE Floats narrow(DoublePair x) {
  FloatsHalf parts[2] = {__builtin_convertvector(x.low, FloatsHalf),
                         __builtin_convertvector(x.high, FloatsHalf)};
  Floats result;
  __builtin_memcpy(&result, parts, sizeof result);
  return result;
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_LANES_H
