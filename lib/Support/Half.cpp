//===- Half.cpp - 16-bit floats -------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Arrays are converted by the processor's conversion instructions where
/// available. Everything else is branch-free bit arithmetic with the same
/// results, including NaN, which compilers vectorize.
///
//===----------------------------------------------------------------------===//

#include "lib/Support/Half.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

using namespace anec;

// Functions with several clones are selected at load time by the processor's
// features; elsewhere there is one version, as under ThreadSanitizer, which
// would instrument the selection before it is loaded itself.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define ANEC_VECTOR_CLONES                                                     \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ANEC_VECTOR_CLONES
#endif

namespace {

/// Elements at any address: arrays of mapped files are not aligned.
typedef float AnyFloat __attribute__((aligned(1), may_alias));
typedef uint16_t AnyHalf __attribute__((aligned(1), may_alias));

inline uint16_t narrowToHalf(uint32_t bits) {
  uint32_t sign = bits & 0x80000000u;
  uint32_t magnitude = bits ^ sign;
  // Normal: drop 13 mantissa bits, ties to even, and move the bias from 127 to
  // 15; a carry out of the mantissa correctly bumps the exponent.
  uint32_t normal =
      (magnitude + 0x0fffu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  // Subnormal: adding 0.5 aligns the value to steps of 2^-24 in the low
  // mantissa bits, with the adder's own rounding.
  float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3f000000u;
  // A NaN keeps its upper mantissa bits and becomes quiet.
  uint32_t notANumber = 0x7e00u | (magnitude >> 13 & 0x1ffu);
  uint32_t special = magnitude > 0x7f800000u ? notANumber : 0x7c00u;
  // 2^-14 is the smallest normal half; 65520 is the first value to overflow.
  uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x477ff000u ? special : half;
  return uint16_t(half | sign >> 16);
}

inline float widenHalf(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000u) << 16;
  uint32_t magnitude = half & 0x7fffu;
  // Scaling by 2^112 moves the bias from 15 to 127 and normalizes subnormals.
  float scaled =
      std::bit_cast<float>(magnitude << 13) * std::bit_cast<float>(239u << 23);
  uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0;
  uint32_t special = magnitude << 13 | 0x7f800000u | quiet;
  uint32_t bits =
      magnitude >= 0x7c00u ? special : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | sign);
}

} // namespace

uint16_t anec::floatToHalf(float value) {
  return narrowToHalf(std::bit_cast<uint32_t>(value));
}

/// `value` rounded to odd at 24 bits: truncated, with the last bit set if that
/// is inexact. Rounding the result again is as exact as rounding `value`. What
/// is too large becomes the largest float, which still overflows a half.
static float narrowToOdd(double value) {
  float narrow = float(value);
  auto bits = std::bit_cast<uint32_t>(narrow);
  bits -= std::fabs(double(narrow)) > std::fabs(value);
  bits |= double(narrow) != value;
  return std::bit_cast<float>(bits);
}

uint16_t anec::doubleToHalf(double value) {
  return floatToHalf(narrowToOdd(value));
}

float anec::halfToFloat(uint16_t bits) { return widenHalf(bits); }

uint16_t anec::floatToBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return uint16_t(bits >> 16 | 0x40u);
  return uint16_t((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

float anec::bfloatToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

// Each converts whole vectors from the start and returns the number of
// converted elements.
#if defined(__x86_64__) && defined(__GNUC__)

__attribute__((target("avx2,f16c"))) static size_t
narrowVectors(const float *in, uint16_t *out, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
  return i;
}

__attribute__((target("avx2,f16c"))) static size_t
widenVectors(const uint16_t *in, float *out, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                  reinterpret_cast<const __m128i *>(in + i))));
  return i;
}

/// All processors with AVX2 have F16C.
static bool hasInstructions() { return __builtin_cpu_supports("avx2"); }

#elif defined(__aarch64__)

static size_t narrowVectors(const float *in, uint16_t *out, size_t count) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    float16x4_t half = vcvt_f16_f32(vld1q_f32(in + i));
    std::memcpy(out + i, &half, sizeof half);
  }
  return i;
}

static size_t widenVectors(const uint16_t *in, float *out, size_t count) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    vst1q_f32(out + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(in + i))));
  return i;
}

static bool hasInstructions() { return true; }

#else

static size_t narrowVectors(const float *, uint16_t *, size_t) { return 0; }
static size_t widenVectors(const uint16_t *, float *, size_t) { return 0; }
static bool hasInstructions() { return false; }

#endif

void anec::floatsToHalves(const float *__restrict in, uint16_t *__restrict out,
                          size_t count, HalfInstructions instructions) {
  size_t i = 0;
  if (instructions == HalfInstructions::Best && hasInstructions())
    i = narrowVectors(in, out, count);
  const AnyFloat *from = in;
  for (; i < count; ++i)
    out[i] = narrowToHalf(std::bit_cast<uint32_t>(float(from[i])));
}

void anec::halvesToFloats(const uint16_t *__restrict in, float *__restrict out,
                          size_t count, HalfInstructions instructions) {
  size_t i = 0;
  if (instructions == HalfInstructions::Best && hasInstructions())
    i = widenVectors(in, out, count);
  const AnyHalf *from = in;
  for (; i < count; ++i)
    out[i] = widenHalf(from[i]);
}

void anec::doublesToHalves(const double *__restrict in,
                           uint16_t *__restrict out, size_t count) {
  constexpr size_t chunk = 512;
  float odd[chunk];
  for (size_t begin = 0; begin < count; begin += chunk) {
    size_t part = std::min(chunk, count - begin);
    for (size_t i = 0; i < part; ++i)
      odd[i] = narrowToOdd(in[begin + i]);
    floatsToHalves(odd, out + begin, part);
  }
}

ANEC_VECTOR_CLONES
size_t anec::countHalfOverflows(const float *in, size_t count) {
  const AnyFloat *from = in;
  uint32_t overflows = 0;
  size_t total = 0;
  for (size_t start = 0; start < count; start += 1 << 20) {
    size_t end = count - start < (1 << 20) ? count : start + (1 << 20);
    overflows = 0;
    for (size_t i = start; i < end; ++i) {
      uint32_t magnitude =
          std::bit_cast<uint32_t>(float(from[i])) & 0x7fffffffu;
      overflows += uint32_t(magnitude >= 0x477ff000u) &
                   uint32_t(magnitude < 0x7f800000u);
    }
    total += overflows;
  }
  return total;
}
