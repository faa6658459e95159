//===- VectorMath.h - Transcendental functions of vectors -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// exp, log, tanh, erf and similar functions of a whole vector, without
/// branches, to 2 ulp, with libm's results for zeros, infinities, NaN and
/// subnormals. Each computes all cases and selects one. See Lanes.h for what
/// may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_VECTORMATH_H
#define ANEC_RUNTIME_CPU_VECTORMATH_H

#include "Lanes.h"

namespace anec::cpu {
namespace {

/// A polynomial in x, coefficients from the highest power down.
template <typename Vector, typename Number, size_t count>
ANEC_INLINE Vector horner(Vector x, const Number (&coefficients)[count]) {
  Vector result = coefficients[0] - Vector{};
#pragma GCC unroll 16
  for (size_t i = 1; i < count; ++i)
    result = result * x + coefficients[i];
  return result;
}

/// The same in pairs of coefficients, where square is x * x: half as many steps
/// wait for each other.
template <typename Vector, typename Number, size_t count>
ANEC_INLINE Vector inPairs(Vector x, Vector square,
                           const Number (&coefficients)[count]) {
  Vector result = coefficients[0] - Vector{};
  if constexpr (count % 2 == 0)
    result = result * x + coefficients[1];
#pragma GCC unroll 16
  for (size_t i = 2 - count % 2; i < count; i += 2)
    result = result * square + (coefficients[i] * x + coefficients[i + 1]);
  return result;
}

/// Adding this to |x| < 2^22 leaves x, rounded to an integer, in the low bits.
constexpr float roundingMagic = 0x1.8p23f;

/// value * 2^n for integral n in [-252, 254]: two factors, so that a result out
/// of the normal range is rounded once.
ANEC_INLINE Floats scale(Floats value, Ints n) {
  Ints first = n >> 1;
  Ints second = n - first;
  Floats low = fromBits((Words)(first + 127) << 23);
  Floats high = fromBits((Words)(second + 127) << 23);
  return value * low * high;
}

/// e^r - 1 for |r| <= log(2)/2; e^r is the minimax approximation to 3e-9.
ANEC_INLINE Floats expMinusOneReduced(Floats r) {
  constexpr float coefficients[] = {1.3814539989e-3f, 8.3687451164e-3f,
                                    4.1668390787e-2f, 1.6666520399e-1f,
                                    4.9999993432e-1f};
  Floats square = r * r;
  return inPairs(r, square, coefficients) * square + r;
}
ANEC_INLINE Floats expReduced(Floats r) { return expMinusOneReduced(r) + 1.0f; }

/// e^x = 2^n * e^r for |x| <= 104.
struct ReducedPower {
  explicit ANEC_INLINE ReducedPower(Floats x)
      : shifted(x * 1.44269504088896341f + roundingMagic) {
    Floats n = shifted - roundingMagic;
    // log(2) in two parts, the first short enough for an exact product.
    r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
  }
  /// 2^(n + offset), which has to be a normal number. The magic leaves no bits
  /// above those of n.
  ANEC_INLINE Floats power(int32_t offset) const {
    return fromBits((bits(shifted) << 23) + (uint32_t(127 + offset) << 23));
  }
  Floats shifted, r;
};

ANEC_INLINE Floats exp(Floats x) {
  // e^89 is infinity and e^-104 zero in fp32; the comparisons keep NaN.
  x = x > 89.0f ? splat(89.0f) : x;
  x = x < -104.0f ? splat(-104.0f) : x;
  ReducedPower part(x);
  Ints exponent = (Ints)(bits(part.shifted) - bits(splat(roundingMagic)));
  return scale(expReduced(part.r), exponent);
}

/// 2^64 e^x for x <= 0, which is a normal number, and below e^-104 stays what
/// it is there.
ANEC_INLINE Floats expBelowScaled(Floats x) {
  ReducedPower part(x < -104.0f ? splat(-104.0f) : x);
  return expReduced(part.r) * part.power(64);
}

/// e^x for x <= 0.
ANEC_INLINE Floats expBelow(Floats x) { return expBelowScaled(x) * 0x1p-64f; }

/// e^x - 1 for x <= 0: 2^n (e^r - 1) + (2^n - 1).
ANEC_INLINE Floats expMinusOne(Floats x) {
  // 2^-104 is nothing beside 1.
  ReducedPower part(x < -72.0f ? splat(-72.0f) : x);
  Floats power = part.power(0);
  return power * expMinusOneReduced(part.r) + (power - 1.0f);
}

ANEC_INLINE Floats exp2(Floats x) {
  x = x > 129.0f ? splat(129.0f) : x;
  x = x < -151.0f ? splat(-151.0f) : x;
  Floats shifted = x + roundingMagic;
  Floats n = shifted - roundingMagic;
  Ints exponent = (Ints)(bits(shifted) - bits(splat(roundingMagic)));
  return scale(expReduced((x - n) * 0.693147180559945309f), exponent);
}

ANEC_INLINE Floats log(Floats x) {
  constexpr float coefficients[] = {
      7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
      -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
      2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  Ints isSubnormal = x < 0x1p-126f;
  Floats normal = isSubnormal ? x * 0x1p23f : x;
  // x = m * 2^n with m in [sqrt(1/2), sqrt(2)).
  Words offset = bits(normal) - bits(splat(0.707106781186547524f));
  Ints exponent = (Ints)offset >> 23;
  Floats m = fromBits(bits(normal) - ((Words)exponent << 23)) - 1.0f;
  Floats n = __builtin_convertvector(exponent, Floats);
  n = isSubnormal ? n - 23.0f : n;

  Floats square = m * m;
  Floats tail = inPairs(m, square, coefficients) * m * square;
  tail = tail + n * -2.12194440e-4f;
  tail = tail - 0.5f * square;
  Floats result = (m + tail) + n * 0.693359375f;

  Floats infinity = splat(__builtin_inff());
  result = x == infinity ? infinity : result;
  result = x == 0.0f ? -infinity : result;
  result = x < 0.0f ? splat(__builtin_nanf("")) : result;
  return x != x ? x : result;
}

ANEC_INLINE Floats sigmoid(Floats x) {
  // e^-|x| cannot overflow, and e^x/(1 + e^x) keeps precision below zero.
  Floats e = expBelow(-abs(x));
  Floats numerator = x < 0.0f ? e : splat(1.0f);
  return numerator / (1.0f + e);
}

/// -t / (2 + t) with t = e^-2|x| - 1.
ANEC_INLINE Floats tanh(Floats x) {
  Floats t = expMinusOne(-2.0f * abs(x));
  return copySign(t / (2.0f + t), x);
}

ANEC_INLINE Floats erf(Floats x) {
  // Two minimax approximations: x * P(x^2) near zero, and 1 - e^Q(|x|) from
  // where erf is closer to 1; beyond 4 erf is 1 in fp32.
  constexpr float nearZero[] = {-5.96761703e-4f, 4.99119423e-3f,
                                -2.67681349e-2f, 1.12819925e-1f,
                                -3.76125336e-1f, 1.28379166e-1f};
  constexpr float tail[] = {-1.72853470e-5f, 3.83197126e-4f,  -3.88396438e-3f,
                            2.42546219e-2f,  -1.06777877e-1f, -6.34846687e-1f,
                            -1.28717512e-1f};
  Floats magnitude = abs(x);
  Floats square = x * x;
  Floats small = inPairs(square, square * square, nearZero) * x + x;
  Floats t = magnitude > 4.0f ? splat(4.0f) : magnitude;
  ReducedPower part(inPairs(t, t * t, tail) * t - t);
  Floats large = 1.0f - expReduced(part.r) * part.power(0);
  return magnitude > 0.927734375f ? copySign(large, x) : small;
}

/// log(x) in fp64 for positive, finite, normal x, to 1e-11.
ANEC_INLINE Doubles logOf(Doubles x) {
  constexpr double coefficients[] = {1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                     1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  Longs sqrtHalf = (Longs)(0.70710678118654752 - Doubles{});
  Longs exponent = ((Longs)x - sqrtHalf) >> 52;
  Doubles m = (Doubles)((Longs)x - (exponent << 52));
  Doubles s = (m - 1.0) / (m + 1.0);
  Doubles square = s * s;
  // log(m) = 2 atanh(s)
  Doubles logM = 2.0 * (s + s * square * horner(square, coefficients));
  return logM + __builtin_convertvector(exponent, Doubles) * 0.693147180559945;
}

/// e^x in fp64 for |x| <= 700, to 1e-11.
ANEC_INLINE Doubles expOf(Doubles x) {
  constexpr double coefficients[] = {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                     1.0 / 5040,    1.0 / 720,    1.0 / 120,
                                     1.0 / 24,      1.0 / 6,      1.0 / 2,
                                     1.0,           1.0};
  constexpr double magic = 0x1.8p52;
  Doubles shifted = x * 1.44269504088896341 + magic;
  Doubles n = shifted - magic;
  Doubles r = x - n * 0.693147180559945309;
  Longs exponent = (Longs)shifted - (Longs)(magic - Doubles{});
  return horner(r, coefficients) * (Doubles)((exponent + 1023) << 52);
}

ANEC_INLINE Doubles limited(Doubles x) {
  x = x > 700.0 ? 700.0 - Doubles{} : x;
  return x < -700.0 ? -700.0 - Doubles{} : x;
}

ANEC_INLINE Floats pow(Floats x, Floats y) {
  Floats infinity = splat(__builtin_inff());
  // Positive, normal, finite x and finite y take the fast path; libm computes
  // the rest, with its two dozen special cases.
  Ints ordinary = (x >= 0x1p-126f) & (x < infinity) & (abs(y) < infinity);
  if (any(~ordinary)) {
    Floats result = x;
    for (size_t i = 0; i < width; ++i)
      result[i] = __builtin_powf(x[i], y[i]);
    return result;
  }
  // e^(y log x) multiplies the error of the logarithm by up to 88: fp64.
  DoublePair base = widen(x), power = widen(y);
  return narrow({expOf(limited(logOf(base.low) * power.low)),
                 expOf(limited(logOf(base.high) * power.high))});
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_VECTORMATH_H
