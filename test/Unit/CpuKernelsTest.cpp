//===- CpuKernelsTest.cpp - The CPU backend's kernels ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Every kernel against a double-precision reference, with every instruction
/// set of this machine, over lengths that leave each possible remainder.
//===----------------------------------------------------------------------===//

#include "anec/Runtime/CPU/Gemm.h"
#include "anec/Runtime/CPU/Parallel.h"
#include "anec/Runtime/CPU/VectorKernels.h"
#include "gtest/gtest.h"
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace anec::cpu;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float smallest = std::numeric_limits<float>::denorm_min();
constexpr Rounding roundings[] = {Rounding::None, Rounding::FP16};

using Floats = std::vector<float>;

Floats randomFloats(size_t n, float low = -1, float high = 1,
                    unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  Floats result(n);
  for (float &x : result)
    x = distribution(generator);
  return result;
}

/// Independent of the kernels' bit tricks: the nearest multiple of the spacing
/// of fp16 at x, in double precision.
float nearestHalf(double x) {
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
double valueOfHalf(uint16_t half) {
  int exponent = half >> 10 & 31, fraction = half & 1023;
  double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::nan("") : sign * double(infinity);
  if (exponent == 0)
    return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

float stored(double x, Rounding rounding) {
  return rounding == Rounding::FP16 ? nearestHalf(x) : float(x);
}

bool isSame(float a, float b) {
  return std::isnan(a)
             ? std::isnan(b)
             : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Whether `value` is within `tolerance` (relative) of the reference; after
/// rounding to fp16, the neighbour on the other side of a tie is allowed too.
testing::AssertionResult isNear(float value, double reference,
                                Rounding rounding, double tolerance = 3e-7,
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

const Floats &specialValues() {
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

std::string
nameOfSet(const testing::TestParamInfo<InstructionSet> &information) {
  constexpr const char *names[] = {"Baseline", "AVX2", "AVX512"};
  return names[size_t(information.param)];
}

INSTANTIATE_TEST_SUITE_P(Sets, CpuKernels,
                         testing::Values(InstructionSet::Baseline,
                                         InstructionSet::AVX2,
                                         InstructionSet::AVX512),
                         nameOfSet);

//===-- Conversions -------------------------------------------------------===//

TEST_P(CpuKernels, EveryHalfRoundTrips) {
  std::vector<uint16_t> halves(65536), back(65536);
  for (size_t i = 0; i < halves.size(); ++i)
    halves[i] = uint16_t(i);
  Floats values(65536), roundedValues(65536);
  halfToFloat(halves.size(), halves.data(), values.data());
  floatToHalf(values.size(), values.data(), back.data());
  roundToHalf(values.size(), values.data(), roundedValues.data());
  for (size_t i = 0; i < halves.size(); ++i) {
    ASSERT_TRUE(isSame(values[i], float(valueOfHalf(halves[i])))) << i;
    ASSERT_TRUE(isSame(roundedValues[i], values[i])) << i;
    if (std::isnan(values[i]))
      ASSERT_TRUE(std::isnan(valueOfHalf(back[i]))) << i;
    else
      ASSERT_EQ(back[i], halves[i]);
  }
}

TEST_P(CpuKernels, MidpointsTieToEven) {
  // Between two finite neighbours, the midpoint goes to the even one and the
  // floats beside it to the nearer; past 65504 the next would be 65536.
  for (uint16_t half = 0; half < 0x7c00; ++half) {
    double low = valueOfHalf(half);
    double high = half == 0x7bff ? 65536 : valueOfHalf(half + 1);
    auto middle = float((low + high) / 2);
    uint16_t even = half & 1 ? half + 1 : half;
    Floats x = {middle, std::nextafter(middle, 0.0f),
                std::nextafter(middle, infinity), -middle};
    uint16_t expected[] = {even, half, uint16_t(half + 1),
                           uint16_t(even | 0x8000)};
    uint16_t out[4];
    Floats values(4);
    floatToHalf(4, x.data(), out);
    roundToHalf(4, x.data(), values.data());
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(out[i], expected[i]) << x[i];
      ASSERT_TRUE(isSame(values[i], float(valueOfHalf(expected[i])))) << x[i];
    }
  }
}

TEST_P(CpuKernels, RoundToHalfAtEveryMagnitude) {
  Floats x(1 << 16);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::bit_cast<float>(uint32_t(i * 65537));
  Floats out(x.size());
  roundToHalf(x.size(), x.data(), out.data());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(isSame(out[i], nearestHalf(x[i]))) << x[i];
}

TEST_P(CpuKernels, BFloat16) {
  // 1 + 2^-8 lies midway between 1 and the next bfloat16; 1 + 3 * 2^-8 too.
  Floats x = {1.0f,           1 + 0x1p-8f, 1 + 0x1.8p-7f,
              1 + 0x1.02p-8f, -infinity,   3.4e38f,
              3.4028235e38f,  0x1p-133f,   nan};
  uint16_t expected[] = {0x3f80, 0x3f80, 0x3f82, 0x3f81,
                         0xff80, 0x7f80, 0x7f80, 0x0001};
  std::vector<uint16_t> out(x.size());
  floatToBFloat16(x.size(), x.data(), out.data());
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(out[i], expected[i]) << x[i];
  Floats back(x.size());
  bfloat16ToFloat(out.size(), out.data(), back.data());
  EXPECT_EQ(back[2], 1 + 0x1p-6f);
  EXPECT_TRUE(std::isnan(back.back()));
}

//===-- Elementwise -------------------------------------------------------===//

TEST_P(CpuKernels, BinaryOperations) {
  using Reference = double (*)(double, double);
  const std::pair<Binary, Reference> kinds[] = {
      {Binary::Add, [](double a, double b) { return a + b; }},
      {Binary::Sub, [](double a, double b) { return a - b; }},
      {Binary::Mul, [](double a, double b) { return a * b; }},
      {Binary::Div, [](double a, double b) { return a / b; }},
      {Binary::Max, [](double a, double b) { return std::max(a, b); }},
      {Binary::Min, [](double a, double b) { return std::min(a, b); }}};
  for (auto [kind, reference] : kinds)
    for (Rounding rounding : roundings)
      for (size_t n : {0, 1, 3, 15, 16, 17, 33, 67})
        for (size_t strides = 0; strides < 4; ++strides) {
          size_t strideA = strides & 1, strideB = strides >> 1;
          Floats a = randomFloats(n + 1, -300, 300, 1);
          Floats b = randomFloats(n + 1, -300, 300, 2), out(n + 1, 7);
          binary(kind, n, a.data(), strideA, b.data(), strideB, out.data(),
                 rounding);
          for (size_t i = 0; i < n; ++i) {
            double exact = reference(a[i * strideA], b[i * strideB]);
            // fp32 first, as the hardware does.
            EXPECT_TRUE(isSame(out[i], stored(float(exact), rounding)));
          }
          EXPECT_EQ(out[n], 7) << "wrote past the end";
        }
}

TEST_P(CpuKernels, BinaryOperationsOnSpecialValues) {
  const Floats &values = specialValues();
  for (float second : values) {
    Floats sum(values.size()), greatest(values.size()), power(values.size());
    binary(Binary::Add, values.size(), values.data(), 1, &second, 0, sum.data(),
           Rounding::None);
    binary(Binary::Max, values.size(), values.data(), 1, &second, 0,
           greatest.data(), Rounding::None);
    binary(Binary::Pow, values.size(), values.data(), 1, &second, 0,
           power.data(), Rounding::None);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(isSame(sum[i], values[i] + second));
      EXPECT_TRUE(isSame(greatest[i], std::max(values[i], second)));
      EXPECT_TRUE(
          isNear(power[i], std::pow(double(values[i]), second), Rounding::None))
          << values[i] << " ^ " << second;
    }
  }
}

TEST_P(CpuKernels, PowOverTheRange) {
  Floats a = randomFloats(9999, -88, 88, 3), b = randomFloats(9999, -3, 3, 4);
  for (float &x : a)
    x = std::exp(x);
  for (Rounding rounding : roundings) {
    Floats out(a.size());
    binary(Binary::Pow, a.size(), a.data(), 1, b.data(), 1, out.data(),
           rounding);
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_TRUE(
          isNear(out[i], std::pow(double(a[i]), double(b[i])), rounding))
          << a[i] << " ^ " << b[i];
  }
}

double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

struct UnaryCase {
  Unary kind;
  std::function<double(double)> reference;
  float p = 0, q = 0;
  double tolerance = 2.4e-7; ///< relative: 2 ulp
  double absolute = 0;       ///< relative to |x|
};

const std::vector<UnaryCase> &unaryCases() {
  static const std::vector<UnaryCase> cases = {
      {Unary::Abs, [](double x) { return std::abs(x); }, 0, 0, 0},
      {Unary::Affine, [](double x) { return 0.5 * x + 2; }, 0.5f, 2, 2e-7},
      {Unary::Ceil, [](double x) { return std::ceil(x); }, 0, 0, 0},
      {Unary::Clip,
       [](double x) { return std::isnan(x) ? x : std::clamp(x, -0.5, 6.0); },
       -0.5f, 6, 0},
      {Unary::Copy, [](double x) { return x; }, 0, 0, 0},
      {Unary::Erf, [](double x) { return std::erf(x); }},
      {Unary::Exp, [](double x) { return std::exp(x); }},
      {Unary::Exp2, [](double x) { return std::exp2(x); }},
      {Unary::Floor, [](double x) { return std::floor(x); }, 0, 0, 0},
      {Unary::GeluErf,
       [](double x) { return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5))); }, 0,
       0, 4e-7, 1e-7},
      {Unary::GeluSigmoid, [](double x) { return x * sigmoidOf(1.702 * x); }, 0,
       0, 4e-7, 1e-7},
      {Unary::GeluTanh,
       [](double x) {
         double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
         return x * sigmoidOf(2 * inner);
       },
       0, 0, 4e-7, 1e-7},
      {Unary::Inverse, [](double x) { return 1 / double(float(x + 0.25)); },
       0.25f},
      {Unary::LeakyRelu, [](double x) { return x > 0 ? x : 0.125 * x; },
       0.125f},
      {Unary::Log, [](double x) { return std::log(x); }},
      {Unary::Log, [](double x) { return std::log(double(float(x) + 0.5f)); },
       0.5f},
      {Unary::Neg, [](double x) { return -x; }, 0, 0, 0},
      {Unary::Relu, [](double x) { return x < 0 ? 0 : x; }, 0, 0, 0},
      {Unary::Round, [](double x) { return std::nearbyint(x); }, 0, 0, 0},
      {Unary::Rsqrt,
       [](double x) { return 1 / std::sqrt(double(float(x) + 0.5f)); }, 0.5f},
      {Unary::Sigmoid, sigmoidOf, 0, 0, 4e-7},
      {Unary::Sign, [](double x) { return x > 0   ? 1
                                          : x < 0 ? -1
                                                  : x; }, 0, 0,
       0},
      {Unary::Silu, [](double x) { return x * sigmoidOf(x); }, 0, 0, 4e-7,
       smallest},
      {Unary::Sqrt, [](double x) { return std::sqrt(x); }},
      {Unary::Square, [](double x) { return x * x; }},
      {Unary::Tanh, [](double x) { return std::tanh(x); }}};
  return cases;
}

TEST_P(CpuKernels, UnaryOperations) {
  Floats x = specialValues();
  // Close to zero, around one, and over the whole range of exp and of fp32.
  for (float range : {0.01f, 1.0f, 10.0f, 120.0f, 3e38f}) {
    Floats more = randomFloats(4001, -range, range, unsigned(range) + 5);
    x.insert(x.end(), more.begin(), more.end());
  }
  for (float exponent : randomFloats(4001, -103, 88, 9))
    x.push_back(std::exp(exponent));
  for (const UnaryCase &test : unaryCases())
    for (Rounding rounding : roundings) {
      Floats out(x.size());
      unary(test.kind, x.size(), x.data(), out.data(), rounding, test.p,
            test.q);
      for (size_t i = 0; i < x.size(); ++i) {
        double absolute = test.absolute > 0 && std::isfinite(x[i])
                              ? test.absolute * std::abs(double(x[i]))
                              : 0;
        ASSERT_TRUE(isNear(out[i], test.reference(x[i]), rounding,
                           test.tolerance, absolute))
            << "kind " << int(test.kind) << " of " << x[i];
      }
    }
}

TEST_P(CpuKernels, UnaryOperationsKeepToTheirRow) {
  for (size_t n = 0; n < 70; ++n) {
    Floats x = randomFloats(n + 1, -3, 3), out(n + 1, 7);
    unary(Unary::Neg, n, x.data(), out.data(), Rounding::None);
    for (size_t i = 0; i < n; ++i)
      EXPECT_EQ(out[i], -x[i]);
    EXPECT_EQ(out[n], 7);
    unary(Unary::Neg, n, x.data(), x.data(), Rounding::None);
    for (size_t i = 0; i < n; ++i)
      EXPECT_EQ(out[i], x[i]) << "in place";
  }
}

TEST_P(CpuKernels, SiluMulRoundsLikeItsParts) {
  size_t n = 1003;
  Floats gate = randomFloats(n, -9, 9, 1), up = randomFloats(n, -9, 9, 2);
  roundToHalf(n, gate.data(), gate.data());
  roundToHalf(n, up.data(), up.data());
  for (Rounding rounding : roundings)
    for (bool roundSigmoid : {false, true}) {
      Floats expected(n), out(n);
      if (roundSigmoid) {
        unary(Unary::Sigmoid, n, gate.data(), expected.data(), rounding);
        binary(Binary::Mul, n, expected.data(), 1, gate.data(), 1,
               expected.data(), rounding);
      } else {
        unary(Unary::Silu, n, gate.data(), expected.data(), rounding);
      }
      binary(Binary::Mul, n, expected.data(), 1, up.data(), 1, expected.data(),
             rounding);
      siluMul(n, gate.data(), up.data(), out.data(), rounding, roundSigmoid);
      for (size_t i = 0; i < n; ++i)
        EXPECT_TRUE(isSame(out[i], expected[i]));
    }
}

//===-- Softmax -----------------------------------------------------------===//

std::vector<double> softmaxOf(size_t n, size_t stride, const float *x) {
  double greatest = -infinity, sum = 0;
  for (size_t i = 0; i < n; ++i)
    greatest = std::max(greatest, double(x[i * stride]));
  std::vector<double> result(n);
  for (size_t i = 0; i < n; ++i)
    sum += result[i] = std::exp(x[i * stride] - greatest);
  for (double &value : result)
    value /= sum;
  return result;
}

TEST_P(CpuKernels, SoftmaxOfRows) {
  for (Rounding rounding : roundings)
    for (size_t n : {0, 1, 7, 16, 31, 64, 257, 4099}) {
      Floats x = randomFloats(n, -10, 10), out(n);
      if (n > 2)
        x[1] = -infinity;
      softmaxRow(n, x.data(), out.data(), rounding);
      std::vector<double> expected = softmaxOf(n, 1, x.data());
      for (size_t i = 0; i < n; ++i)
        // x - max rounds by half an ulp of up to 20.
        EXPECT_TRUE(isNear(out[i], expected[i], rounding, 1.5e-6));
    }
}

TEST_P(CpuKernels, SoftmaxOfColumns) {
  for (Rounding rounding : roundings)
    for (size_t rows : {0, 1, 5, 301})
      for (size_t columns : {1, 15, 16, 67, 130}) {
        size_t stride = columns + 3;
        Floats x = randomFloats(rows * stride + 1, -10, 10);
        Floats out(x.size(), 7), inPlace = x;
        softmaxColumns(rows, columns, stride, x.data(), out.data(), rounding);
        softmaxColumns(rows, columns, stride, x.data(), inPlace.data(),
                       rounding);
        for (size_t column = 0; column < columns; ++column) {
          std::vector<double> expected =
              softmaxOf(rows, stride, x.data() + column);
          for (size_t row = 0; row < rows; ++row) {
            float value = out[row * stride + column];
            EXPECT_TRUE(isNear(value, expected[row], rounding, 1.5e-6));
            EXPECT_TRUE(isSame(value, inPlace[row * stride + column]));
          }
        }
        for (size_t row = 0; row < rows; ++row)
          EXPECT_EQ(out[row * stride + columns], 7) << "wrote past a row";
      }
}

TEST_P(CpuKernels, ScaledSoftmaxRoundsLikeItsParts) {
  float scale = 0.125f;
  for (Rounding rounding : roundings)
    for (size_t n : {1, 13, 64, 257})
      for (bool hasMask : {false, true}) {
        Floats x = randomFloats(n, -40, 40), mask(n), expected(n), out(n);
        for (size_t i = n / 2 + 1; i < n; ++i)
          mask[i] = -infinity;
        binary(Binary::Mul, n, x.data(), 1, &scale, 0, expected.data(),
               rounding);
        if (hasMask)
          binary(Binary::Add, n, expected.data(), 1, mask.data(), 1,
                 expected.data(), rounding);
        softmaxRow(n, expected.data(), expected.data(), rounding);
        scaledSoftmaxRow(n, x.data(), scale, hasMask ? mask.data() : nullptr,
                         out.data(), rounding);
        for (size_t i = 0; i < n; ++i)
          EXPECT_TRUE(isNear(out[i], expected[i], rounding, 1e-6));
      }
}

TEST_P(CpuKernels, SoftmaxOfSpecialRows) {
  Floats masked(5, -infinity), spoilt = {1, nan, 2}, out(5);
  softmaxRow(masked.size(), masked.data(), out.data(), Rounding::None);
  EXPECT_TRUE(std::isnan(out[0]));
  softmaxRow(spoilt.size(), spoilt.data(), out.data(), Rounding::None);
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]) && std::isnan(out[2]));
}

//===-- Reductions --------------------------------------------------------===//

double reductionOf(Reduce kind, size_t n, size_t stride, const float *x) {
  double sum = 0, greatest = -infinity, least = infinity;
  for (size_t i = 0; i < n; ++i) {
    double value = x[i * stride];
    greatest = std::max(greatest, value);
    least = std::min(least, value);
    sum += kind == Reduce::L1                                ? std::abs(value)
           : kind == Reduce::L2 || kind == Reduce::SumSquare ? value * value
                                                             : value;
  }
  switch (kind) {
  case Reduce::Max:
    return greatest;
  case Reduce::Min:
    return least;
  case Reduce::Mean:
    return sum / double(n);
  case Reduce::L2:
    return std::sqrt(sum);
  default:
    return sum;
  }
}

constexpr Reduce reductions[] = {Reduce::L1,       Reduce::L2,  Reduce::Max,
                                 Reduce::Mean,     Reduce::Min, Reduce::Sum,
                                 Reduce::SumSquare};

TEST_P(CpuKernels, ReductionsOfRows) {
  for (Reduce kind : reductions)
    for (Rounding rounding : roundings)
      for (size_t n : {0, 1, 15, 16, 63, 65, 131, 5003}) {
        Floats x = randomFloats(n, -1, 2);
        EXPECT_TRUE(isNear(reduceRow(kind, n, x.data(), rounding),
                           reductionOf(kind, n, 1, x.data()), rounding, 1.2e-7))
            << int(kind) << " of " << n;
      }
}

TEST_P(CpuKernels, ReductionsOfColumns) {
  for (Reduce kind : reductions)
    for (Rounding rounding : roundings)
      for (size_t rows : {0, 1, 7, 768})
        for (size_t columns : {1, 15, 16, 67, 130}) {
          size_t stride = columns + 5;
          Floats x = randomFloats(rows * stride + 1, -1, 2);
          Floats out(columns + 1, 7);
          reduceColumns(kind, rows, columns, stride, x.data(), out.data(),
                        rounding);
          for (size_t column = 0; column < columns; ++column)
            EXPECT_TRUE(isNear(
                out[column], reductionOf(kind, rows, stride, x.data() + column),
                rounding, 1.3e-7))
                << int(kind) << " of " << rows;
          EXPECT_EQ(out[columns], 7);
        }
}

TEST_P(CpuKernels, ReductionsOfSpecialValues) {
  Floats x = {1, infinity, 2}, both = {infinity, -infinity};
  Floats large(4, 3e38f);
  EXPECT_EQ(reduceRow(Reduce::Sum, 3, x.data(), Rounding::None), infinity);
  EXPECT_TRUE(
      std::isnan(reduceRow(Reduce::Sum, 2, both.data(), Rounding::None)));
  EXPECT_EQ(reduceRow(Reduce::Mean, 4, large.data(), Rounding::None), 3e38f);
  EXPECT_EQ(reduceRow(Reduce::Sum, 4, large.data(), Rounding::None), infinity);
  Floats spoilt = {nan, 1, nan, 3};
  EXPECT_EQ(reduceRow(Reduce::Max, 4, spoilt.data(), Rounding::None), 3);
}

//===-- Matrix products ---------------------------------------------------===//

/// AVX-512 has kernels of its own, every other set leaves products to BLAS.
class CpuProducts : public CpuKernels {};

INSTANTIATE_TEST_SUITE_P(Sets, CpuProducts,
                         testing::Values(InstructionSet::Baseline,
                                         InstructionSet::AVX512),
                         nameOfSet);

struct GemmCase {
  GemmShape shape;
  GemmEpilogue epilogue;
  bool rowBias = false, columnBias = false;
  enum Side { Neither, Left, Right } packed = Neither;
  size_t batch = 1;
};

/// Random operands of a case, in arrays of exactly the size needed so that the
/// address sanitizer sees a read too far; the first operand is shared by the
/// batch, the second is not.
void check(ThreadPool &pool, const GemmCase &test) {
  const GemmShape &shape = test.shape;
  auto extent = [](size_t rows, size_t columns, size_t leading) {
    return rows == 0 ? 0 : (rows - 1) * leading + columns;
  };
  bool transA = shape.transA == Transpose::Yes;
  bool transB = shape.transB == Transpose::Yes;
  Floats a = randomFloats(transA ? extent(shape.k, shape.m, shape.lda)
                                 : extent(shape.m, shape.k, shape.lda));
  size_t sizeB = transB ? extent(shape.n, shape.k, shape.ldb)
                        : extent(shape.k, shape.n, shape.ldb);
  bool sharedB = test.packed == GemmCase::Right;
  std::vector<Floats> b, c;
  for (size_t i = 0; i < test.batch; ++i) {
    b.push_back(randomFloats(sizeB, -1, 1, sharedB ? 2 : unsigned(i) + 2));
    c.push_back(randomFloats(extent(shape.m, shape.n, shape.ldc), -1, 1, 99));
  }
  std::vector<Floats> before = c;
  Floats rowBias = randomFloats(shape.m, -1, 1, 3);
  Floats columnBias = randomFloats(shape.n, -1, 1, 4);
  std::vector<GemmOperands> operands;
  for (size_t i = 0; i < test.batch; ++i)
    operands.push_back({a.data(), b[i].data(), c[i].data(),
                        test.rowBias ? rowBias.data() : nullptr,
                        test.columnBias ? columnBias.data() : nullptr});
  switch (test.packed) {
  case GemmCase::Neither:
    gemmBatch(pool, shape, operands, test.epilogue);
    break;
  case GemmCase::Left:
    gemmLeft(
        pool,
        PackedWeight::left(shape.m, shape.k, a.data(), shape.lda, shape.transA),
        shape, operands, test.epilogue);
    break;
  case GemmCase::Right:
    gemmRight(pool,
              PackedWeight::right(shape.k, shape.n, b[0].data(), shape.ldb,
                                  shape.transB),
              shape, operands, test.epilogue);
    break;
  }

  for (size_t each = 0; each < test.batch; ++each)
    for (size_t i = 0; i < shape.m; ++i)
      for (size_t j = 0; j < shape.ldc; ++j) {
        size_t index = i * shape.ldc + j;
        if (index >= c[each].size())
          break;
        if (j >= shape.n) {
          ASSERT_EQ(c[each][index], before[each][index]) << "wrote past a row";
          continue;
        }
        double sum = test.epilogue.accumulate ? before[each][index] : 0;
        sum += test.rowBias ? rowBias[i] : 0;
        sum += test.columnBias ? columnBias[j] : 0;
        for (size_t p = 0; p < shape.k; ++p)
          sum += double(a[transA ? p * shape.lda + i : i * shape.lda + p]) *
                 b[each][transB ? j * shape.ldb + p : p * shape.ldb + j];
        ASSERT_TRUE(isNear(c[each][index], sum, test.epilogue.rounding, 3e-7,
                           1e-6 + 6e-8 * double(shape.k)))
            << shape.m << "x" << shape.n << "x" << shape.k << " transposed "
            << transA << transB << " at " << i << ", " << j;
      }
}

GemmShape makeShape(size_t m, size_t n, size_t k, bool transA, bool transB,
                    size_t gap = 0) {
  return {m,
          n,
          k,
          (transA ? m : k) + gap,
          (transB ? k : n) + gap,
          n + gap,
          transA ? Transpose::Yes : Transpose::No,
          transB ? Transpose::Yes : Transpose::No};
}

TEST_P(CpuProducts, ProductsOfEveryShape) {
  for (unsigned threads : {1, 3}) {
    ThreadPool pool(threads);
    for (size_t m : {0, 1, 2, 6, 31, 33})
      for (size_t n : {0, 1, 17, 31, 33, 64, 130})
        for (size_t k : {0, 1, 16, 31, 33, 100})
          for (int trans = 0; trans < 4; ++trans) {
            GemmCase test;
            test.shape = makeShape(m, n, k, trans & 1, trans & 2, k % 3);
            check(pool, test);
            test.epilogue = {Rounding::FP16, true};
            test.rowBias = true;
            test.columnBias = trans & 1;
            check(pool, test);
          }
  }
}

TEST_P(CpuProducts, LargeProductsAreCutRight) {
  ThreadPool pool(2);
  const size_t sizes[][3] = {{97, 200, 300},
                             {200, 1100, 33},
                             {13, 70, 4500},
                             {1, 700, 2100},
                             {700, 1, 2100}};
  for (auto [m, n, k] : sizes)
    for (int trans = 0; trans < 4; ++trans) {
      GemmCase test;
      test.shape = makeShape(m, n, k, trans & 1, trans & 2);
      test.rowBias = true;
      test.epilogue.accumulate = trans == 3;
      check(pool, test);
    }
}

TEST_P(CpuProducts, PackedWeights) {
  ThreadPool pool(2);
  const size_t sizes[][3] = {{1, 1, 1},    {33, 31, 17},   {64, 1, 100},
                             {1, 64, 100}, {100, 130, 70}, {20, 67, 4100}};
  for (auto [m, n, k] : sizes)
    for (int trans = 0; trans < 4; ++trans)
      for (GemmCase::Side side : {GemmCase::Left, GemmCase::Right})
        for (Rounding rounding : roundings) {
          GemmCase test;
          test.shape = makeShape(m, n, k, trans & 1, trans & 2, 1);
          test.epilogue.rounding = rounding;
          test.packed = side;
          test.rowBias = side == GemmCase::Left;
          test.columnBias = side == GemmCase::Right;
          test.batch = 2;
          check(pool, test);
        }
}

TEST_P(CpuProducts, BatchesShareAnOperand) {
  ThreadPool pool(2);
  for (size_t batch : {0, 1, 2, 5, 12})
    for (size_t size : {5, 65}) {
      GemmCase test;
      test.shape = makeShape(size, size + 2, size + 1, true, false);
      test.batch = batch;
      test.columnBias = true;
      check(pool, test);
    }
}

TEST(CpuGemm, RunsInsideATask) {
  ThreadPool pool(2);
  size_t size = 70;
  Floats a = randomFloats(size * size), b = randomFloats(size * size, -1, 1, 2);
  std::vector<Floats> c(8, Floats(size * size));
  GemmShape shape = makeShape(size, size, size, false, true);
  pool.parallelFor(c.size(), [&](size_t task, unsigned) {
    gemm(pool, shape, {.a = a.data(), .b = b.data(), .c = c[task].data()});
  });
  for (const Floats &each : c)
    EXPECT_EQ(each, c[0]);
}

//===-- ThreadPool --------------------------------------------------------===//

TEST(CpuThreadPool, RunsEveryTaskOnce) {
  for (unsigned threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (size_t tasks : {0, 1, 2, 3, 100, 1000}) {
      std::vector<std::atomic<int>> runs(tasks);
      pool.parallelFor(tasks, [&](size_t task, unsigned worker) {
        EXPECT_LT(worker, threads);
        EXPECT_EQ(worker, pool.currentWorker());
        ++runs[task];
      });
      for (std::atomic<int> &count : runs)
        EXPECT_EQ(count, 1);
    }
  }
}

TEST(CpuThreadPool, ManySmallJobs) {
  ThreadPool pool(3);
  size_t total = 0;
  for (size_t job = 0; job < 20000; ++job) {
    std::atomic<size_t> sum{0};
    pool.parallelFor(job % 5, [&](size_t task, unsigned) { sum += task + 1; });
    total += sum;
  }
  EXPECT_EQ(total, 20000u / 5 * (1 + 3 + 6 + 10));
}

TEST(CpuThreadPool, WakesAfterSleeping) {
  ThreadPool pool(2);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> count{0};
    pool.parallelFor(8, [&](size_t, unsigned) { ++count; });
    EXPECT_EQ(count, 8);
  }
}

TEST(CpuThreadPool, WaitsForASlowTask) {
  ThreadPool pool(2);
  std::atomic<int> count{0};
  pool.parallelFor(2, [&](size_t task, unsigned) {
    if (task == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++count;
  });
  EXPECT_EQ(count, 2);
}

TEST(CpuThreadPool, NestedCallsRunInline) {
  ThreadPool pool(2);
  std::atomic<int> count{0};
  pool.parallelFor(4, [&](size_t, unsigned outer) {
    pool.parallelFor(4, [&](size_t, unsigned inner) {
      EXPECT_EQ(inner, outer);
      ++count;
    });
  });
  EXPECT_EQ(count, 16);
}

TEST(CpuThreadPool, RangesCoverTheCount) {
  ThreadPool pool(2);
  for (size_t count : {0, 1, 63, 64, 65, 1000, 100003})
    for (size_t grain : {0, 1, 64, 5000}) {
      std::vector<std::atomic<int>> seen(count);
      pool.parallelRanges(count, grain,
                          [&](size_t begin, size_t end, unsigned) {
                            EXPECT_LT(begin, end);
                            for (size_t i = begin; i < end; ++i)
                              ++seen[i];
                          });
      for (std::atomic<int> &each : seen)
        ASSERT_EQ(each, 1);
    }
}

TEST(CpuThreadPool, ScratchIsAlignedAndKept) {
  ThreadPool pool(2);
  float *first = pool.scratch(1, 100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(pool.scratch(1, 50), first);
  EXPECT_NE(pool.scratch(0, 50), first);
}

} // namespace
