//===- VectorTrig.h - Angles and hyperbolic functions -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Angles, hyperbolic functions whose formulas cancel in fp32 and are computed
/// in fp64, and the divisions that round down. To 2 ulp, as in VectorMath.h.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_VECTORTRIG_H
#define ANEC_RUNTIME_CPU_VECTORTRIG_H

#include "VectorMath.h"

namespace anec::cpu {
namespace {

template <typename Fn>
ANEC_INLINE Floats throughDoubles(Floats x, Fn fn) {
  DoublePair wide = widen(x);
  return narrow({fn(wide.low), fn(wide.high)});
}

ANEC_INLINE Doubles abs(Doubles x) {
  return (Doubles)((Longs)x & INT64_C(0x7fffffffffffffff));
}
ANEC_INLINE Doubles copySign(Doubles magnitude, Doubles sign) {
  Longs signs = (Longs)sign & INT64_MIN;
  return (Doubles)((Longs)abs(magnitude) | signs);
}

ANEC_INLINE Doubles squareRoot(Doubles x) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_maskz_sqrt_pd(__mmask8(0xff), (__m512d)x);
#elif defined(__AVX2__)
  return (Doubles)_mm256_sqrt_pd((__m256d)x);
#elif defined(__x86_64__)
  return (Doubles)_mm_sqrt_pd((__m128d)x);
#elif defined(__aarch64__)
  return (Doubles)vsqrtq_f64((float64x2_t)x);
#else
  for (size_t i = 0; i < width / 2; ++i)
    x[i] = __builtin_sqrt(x[i]);
  return x;
#endif
}

/// Toward minus infinity; from 2^52 on x is an integer.
ANEC_INLINE Doubles floorOf(Doubles x) {
  Doubles magic = copySign(0x1p52 - Doubles{}, x);
  Doubles rounded = (x + magic) - magic;
  Doubles lower = rounded > x ? rounded - 1.0 : rounded;
  return abs(x) < 0x1p52 ? lower : x;
}

//===-- Angles ------------------------------------------------------------===//

/// x = quadrant * pi/2 + r with |r| <= pi/4, for |x| < 2^20.
struct ReducedAngle {
  Doubles r;
  Longs quadrant;
};
ANEC_INLINE ReducedAngle reduceAngle(Doubles x) {
  constexpr double magic = 0x1.8p52;
  Doubles shifted = x * 0.63661977236758134 + magic;
  Doubles n = shifted - magic;
  // pi/2 in two parts, the first short enough for an exact product.
  Doubles r = x - n * 0x1.921fb544p0;
  r = r - n * 0x1.0b4611a626331p-34;
  return {r, (Longs)shifted - (Longs)(magic - Doubles{})};
}

ANEC_INLINE Doubles sineReduced(Doubles r) {
  constexpr double coefficients[] = {1.0 / 6227020800, -1.0 / 39916800,
                                     1.0 / 362880,     -1.0 / 5040,
                                     1.0 / 120,        -1.0 / 6};
  Doubles square = r * r;
  return r + r * square * horner(square, coefficients);
}
ANEC_INLINE Doubles cosineReduced(Doubles r) {
  constexpr double coefficients[] = {
      1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720,
      1.0 / 24,        -1.0 / 2,       1.0};
  return horner(r * r, coefficients);
}

/// sin(x + turns * pi/2)
ANEC_INLINE Doubles turnedSine(Doubles x, int64_t turns) {
  ReducedAngle angle = reduceAngle(x);
  Longs quadrant = angle.quadrant + turns;
  Doubles value =
      (quadrant & 1) != 0 ? cosineReduced(angle.r) : sineReduced(angle.r);
  return (Doubles)((Longs)value ^ ((quadrant & 2) << 62));
}

/// Calls `fast` where all elements are small enough to be reduced, else `slow`
/// for each element.
template <typename Fast, typename Slow>
ANEC_INLINE Floats ofAngle(Floats x, Fast fast, Slow slow) {
  Ints ordinary = abs(x) < 0x1p20f;
  if (any(~ordinary)) {
    for (size_t i = 0; i < width; ++i)
      x[i] = float(slow(double(x[i])));
    return x;
  }
  return throughDoubles(x, fast);
}

ANEC_INLINE Floats sin(Floats x) {
  return ofAngle(
      x, [](Doubles v) ANEC_INLINE_LAMBDA { return turnedSine(v, 0); },
      [](double v) { return __builtin_sin(v); });
}
ANEC_INLINE Floats cos(Floats x) {
  return ofAngle(
      x, [](Doubles v) ANEC_INLINE_LAMBDA { return turnedSine(v, 1); },
      [](double v) { return __builtin_cos(v); });
}
ANEC_INLINE Floats tan(Floats x) {
  return ofAngle(
      x,
      [](Doubles v) ANEC_INLINE_LAMBDA {
        ReducedAngle angle = reduceAngle(v);
        Doubles sine = sineReduced(angle.r), cosine = cosineReduced(angle.r);
        // tan(r + pi/2) = -cos(r) / sin(r)
        Longs isOdd = (angle.quadrant & 1) != 0;
        return (isOdd ? -cosine : sine) / (isOdd ? sine : cosine);
      },
      [](double v) { return __builtin_tan(v); });
}

/// The angle of a positive or infinite quotient, by the nearest of 0, pi/4 and
/// pi/2.
ANEC_INLINE Doubles arcTangentOf(Doubles t) {
  constexpr double coefficients[] = {
      -1.0 / 27, 1.0 / 25,  -1.0 / 23, 1.0 / 21, -1.0 / 19, 1.0 / 17, -1.0 / 15,
      1.0 / 13,  -1.0 / 11, 1.0 / 9,   -1.0 / 7, 1.0 / 5,   -1.0 / 3};
  Longs isLarge = t > 2.4142135623730950, isMiddle = t > 0.41421356237309503;
  Doubles one = 1.0 - Doubles{};
  Doubles numerator = isLarge ? -one : isMiddle ? t - 1.0 : t;
  Doubles denominator = isLarge ? t : isMiddle ? t + 1.0 : one;
  Doubles offset = isMiddle ? 0.78539816339744831 - Doubles{} : Doubles{};
  offset = isLarge ? 1.5707963267948966 - Doubles{} : offset;
  Doubles s = numerator / denominator;
  Doubles square = s * s;
  Doubles series = inPairs(square, square * square, coefficients);
  return offset + (s + s * square * series);
}

ANEC_INLINE Floats atan(Floats x) {
  return throughDoubles(x, [](Doubles v) ANEC_INLINE_LAMBDA {
    return copySign(arcTangentOf(abs(v)), v);
  });
}
/// asin(s) = s + `tail` for 0 <= s <= 1/2. Of a larger magnitude, s is the sine
/// of half of what is missing to pi/2.
struct ArcSine {
  explicit ANEC_INLINE ArcSine(Floats x) {
    // Minimax: asin(s) to 5e-9.
    constexpr float coefficients[] = {4.21663068e-2f, 2.41795155e-2f,
                                      4.54703758e-2f, 7.49529764e-2f,
                                      1.66667525e-1f};
    Floats magnitude = abs(x);
    isLarge = magnitude > 0.5f;
    Floats square = isLarge ? 0.5f - 0.5f * magnitude : x * x;
    s = isLarge ? squareRoot(square) : magnitude;
    tail = s * square * inPairs(square, square * square, coefficients);
  }
  Ints isLarge;
  Floats s, tail;
};

ANEC_INLINE Floats asin(Floats x) {
  // pi/2 in two parts: what the first leaves of it is not rounded.
  constexpr float high = 1.57079637f, low = -4.37113883e-8f;
  ArcSine part(x);
  Floats start = part.isLarge ? high - 2.0f * part.s : part.s;
  Floats rest = part.isLarge ? low - 2.0f * part.tail : part.tail;
  return copySign(start + rest, x);
}
ANEC_INLINE Floats acos(Floats x) {
  ArcSine part(x);
  Floats angle = part.s + part.tail;
  Floats small = 1.57079637f - copySign(angle, x);
  Floats large = x < 0.0f ? 3.14159274f - 2.0f * angle : 2.0f * angle;
  return part.isLarge ? large : small;
}

//===-- Hyperbolic functions ----------------------------------------------===//

ANEC_INLINE Floats cosh(Floats x) {
  return throughDoubles(x, [](Doubles v) ANEC_INLINE_LAMBDA {
    Doubles e = expOf(limited(v));
    return 0.5 * (e + 1.0 / e);
  });
}
ANEC_INLINE Floats sinh(Floats x) {
  return throughDoubles(x, [](Doubles v) ANEC_INLINE_LAMBDA {
    constexpr double coefficients[] = {1.0 / 5040, 1.0 / 120, 1.0 / 6};
    Doubles square = v * v;
    Doubles small = v + v * square * horner(square, coefficients);
    Doubles e = expOf(limited(v));
    Doubles large = 0.5 * (e - 1.0 / e);
    return abs(v) < 0.1 ? small : large;
  });
}
ANEC_INLINE Floats atanh(Floats x) {
  return throughDoubles(x, [](Doubles v) ANEC_INLINE_LAMBDA {
    constexpr double coefficients[] = {1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                       1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
    Doubles square = v * v;
    Doubles small = v + v * square * horner(square, coefficients);
    Doubles large = 0.5 * logOf((1.0 + v) / (1.0 - v));
    Doubles result = abs(v) < 0.17 ? small : large;
    Doubles infinite = copySign(__builtin_inf() - Doubles{}, v);
    result = abs(v) == 1.0 ? infinite : result;
    return abs(v) <= 1.0 ? result : __builtin_nan("") - Doubles{};
  });
}

//===-- Logarithms near one -----------------------------------------------===//

/// log(1 + e^x) = max(x, 0) + log(1 + e), e = e^-|x|, and log(1 + e) =
/// 2 atanh(e / (2 + e)).
ANEC_INLINE Floats softplus(Floats x) {
  constexpr float coefficients[] = {1.0f / 17, 1.0f / 15, 1.0f / 13, 1.0f / 11,
                                    1.0f / 9,  1.0f / 7,  1.0f / 5,  1.0f / 3};
  Floats e = expBelow(-abs(x));
  Floats factor = 1.0f / (2.0f + e);
  Floats s = e * factor;
  Floats square = s * s;
  Floats series = inPairs(square, square * square, coefficients);
  Floats logarithm = e * (2.0f * factor + 2.0f * factor * square * series);
  return x < 0.0f ? logarithm : x + logarithm;
}

//===-- Divisions ---------------------------------------------------------===//

/// The quotient rounded down; an fp32 quotient could round up to an integer.
ANEC_INLINE Floats floorDiv(Floats a, Floats b) {
  DoublePair x = widen(a), y = widen(b);
  return narrow({floorOf(x.low / y.low), floorOf(x.high / y.high)});
}

/// The remainder with the sign of b.
ANEC_INLINE double remainderOf(double a, double b) {
  double result = __builtin_fmod(a, b);
  return result != 0 && (result < 0) != (b < 0) ? result + b : result;
}
ANEC_INLINE Doubles remainderOf(Doubles a, Doubles b) {
  Doubles quotient = floorOf(a / b);
  Doubles result = a - b * quotient;
  // The quotient may have rounded up to an integer.
  Longs differs = ((result < 0.0) ^ (b < 0.0)) & (result != 0.0);
  result = differs ? result + b : result;
  return copySign(result, b);
}
ANEC_INLINE Floats mod(Floats a, Floats b) {
  // Products of small quotients are exact in fp64; libm computes the rest.
  Floats quotient = abs(a / b);
  Ints ordinary = (quotient < 0x1p27f) & (abs(b) < __builtin_inff());
  if (any(~ordinary)) {
    for (size_t i = 0; i < width; ++i)
      a[i] = float(remainderOf(double(a[i]), double(b[i])));
    return a;
  }
  DoublePair x = widen(a), y = widen(b);
  return narrow({remainderOf(x.low, y.low), remainderOf(x.high, y.high)});
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_VECTORTRIG_H
