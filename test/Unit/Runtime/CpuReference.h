//===- CpuReference.h - what kernels are compared with ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_UNIT_CPUREFERENCE_H
#define ANEC_TEST_UNIT_CPUREFERENCE_H

#include "lib/Runtime/CPU/VectorKernels.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace anec::cpu {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float smallest = std::numeric_limits<float>::denorm_min();
constexpr Rounding roundings[] = {Rounding::None, Rounding::FP16};

using Floats = std::vector<float>;

inline Floats randomFloats(size_t n, float low = -1, float high = 1,
                           unsigned seed = 1) {
  // The library's distribution computes logarithms for each number.
  std::mt19937 generator(seed);
  Floats result(n);
  for (float &x : result)
    x = low + (high - low) * float(generator() >> 8) * 0x1p-24f;
  return result;
}

/// Independent of the kernels' bit tricks: the nearest multiple of the spacing
/// of fp16 at x, in double precision.
inline float nearestHalf(double x) {
  if (std::isnan(x) || std::isinf(x) || x == 0)
    return float(x);
  int exponent;
  std::frexp(x, &exponent);
  double spacing = std::ldexp(1.0, std::max(exponent - 11, -24));
  double result = std::nearbyint(x / spacing) * spacing;
  return float(std::abs(result) >= 65536 ? std::copysign(infinity, x)
                                         : std::copysign(result, x));
}

/// Likewise the value of fp16 bits.
inline double valueOfHalf(uint16_t half) {
  int exponent = half >> 10 & 31, fraction = half & 1023;
  double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::nan("") : sign * double(infinity);
  if (exponent == 0)
    return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

inline float stored(double x, Rounding rounding) {
  return rounding == Rounding::FP16 ? nearestHalf(x) : float(x);
}

inline bool isSame(float a, float b) {
  return std::isnan(a)
             ? std::isnan(b)
             : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Whether `value` is within `tolerance` (relative) of the reference; after
/// rounding to fp16, the neighbour on the other side of a tie is allowed too.
inline testing::AssertionResult isNear(float value, double reference,
                                       Rounding rounding,
                                       double tolerance = 3e-7,
                                       double absolute = 0) {
  float expected = stored(reference, rounding);
  if (isSame(value, expected))
    return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure()
                 << value << " is not " << expected << " ("
                 << (double(value) - reference) / reference << " relative)";
  if (std::isnan(value) || std::isnan(expected))
    return failure;
  // Below the normal range the spacing, not the value, bounds the error.
  double margin = std::abs(reference) * tolerance + absolute + smallest;
  if (rounding == Rounding::FP16) {
    float low = nearestHalf(reference - margin);
    float high = nearestHalf(reference + margin);
    return low <= value && value <= high ? testing::AssertionSuccess()
                                         : failure;
  }
  if (std::isinf(value) || std::isinf(expected))
    return std::abs(reference) * (1 + tolerance) >= 3.4028235e38 &&
                   std::signbit(value) == std::signbit(expected)
               ? testing::AssertionSuccess()
               : failure;
  return std::abs(value - reference) <= margin ? testing::AssertionSuccess()
                                               : failure;
}

inline const Floats &specialValues() {
  static const Floats values = {
      0.0f,       -0.0f,         1.0f,           -1.0f,       infinity,
      -infinity,  nan,           smallest,       -smallest,   0x1p-126f,
      -0x1p-126f, 3.4028235e38f, -3.4028235e38f, 65504.0f,    65519.996f,
      65520.0f,   -65520.0f,     0x1p-24f,       0x1p-25f,    0x1.8p-25f,
      88.7f,      88.73f,        89.0f,          -87.4f,      -103.9f,
      -104.0f,    -150.0f,       0.5f,           -0.5f,       1.5f,
      2.5f,       -2.5f,         8388607.5f,     0.99999994f, 1.0000001f};
  return values;
}

class CpuKernels : public testing::TestWithParam<InstructionSet> {
protected:
  void SetUp() override {
    if (!useInstructionSet(GetParam()))
      GTEST_SKIP() << "this machine lacks the instruction set";
  }
  void TearDown() override { useInstructionSet(detectInstructionSet()); }
};

inline std::string
nameOfSet(const testing::TestParamInfo<InstructionSet> &information) {
  constexpr const char *names[] = {"Baseline", "AVX2", "AVX512", "NEON"};
  return names[size_t(information.param)];
}

} // namespace anec::cpu

#endif // ANEC_TEST_UNIT_CPUREFERENCE_H
