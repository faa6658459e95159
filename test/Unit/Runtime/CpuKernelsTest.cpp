//===- CpuKernelsTest.cpp - The CPU backend's kernels ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Every kernel against a double-precision reference, with every instruction
/// set of this machine, over lengths that leave each possible remainder.
//===----------------------------------------------------------------------===//

#include "test/Unit/Runtime/CpuReference.h"
#include <cstring>
#include <functional>

namespace anec::cpu {
namespace {

INSTANTIATE_TEST_SUITE_P(Sets, CpuKernels, testing::ValuesIn(instructionSets),
                         nameOfSet);

//===-- Rounding ----------------------------------------------------------===//

TEST_P(CpuKernels, EveryHalfStaysAsItIs) {
  Floats values, roundedValues(65536);
  for (unsigned half = 0; half < 65536; ++half)
    values.push_back(float(valueOfHalf(uint16_t(half))));
  roundToHalf(values.size(), values.data(), roundedValues.data());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_TRUE(isSame(roundedValues[i], values[i])) << i;
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
    Floats values(4);
    roundToHalf(4, x.data(), values.data());
    for (size_t i = 0; i < 4; ++i)
      ASSERT_TRUE(isSame(values[i], float(valueOfHalf(expected[i])))) << x[i];
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

//===-- Convolutions ------------------------------------------------------===//

TEST_P(CpuKernels, WeightedSums) {
  const std::vector<uint32_t> offsets = {5, 0, 17, 17, 2, 30, 9};
  size_t terms = offsets.size();
  for (size_t outputs : {1, 2, 4, 5, 9})
    for (size_t n : {0, 1, 7, 16, 31, 40, 60, 64, 131})
      for (Rounding rounding : roundings)
        for (bool hasStarts : {false, true}) {
          size_t stride = n + 3;
          Floats x = randomFloats(n + 30 + 16), starts = randomFloats(outputs);
          Floats weights = randomFloats(outputs * terms, -1, 1, 2);
          Floats out(outputs * stride, 7);
          weightedSums(
              n, {terms, offsets.data(), x.data()},
              {outputs, weights.data(), hasStarts ? starts.data() : nullptr},
              {out.data(), stride}, rounding);
          for (size_t o = 0; o < outputs; ++o) {
            for (size_t i = 0; i < n; ++i) {
              double sum = hasStarts ? starts[o] : 0;
              for (size_t t = 0; t < terms; ++t)
                sum += double(weights[o * terms + t]) * x[offsets[t] + i];
              EXPECT_TRUE(
                  isNear(out[o * stride + i], sum, rounding, 1e-6, 1e-6));
            }
            for (size_t i = n; i < stride; ++i)
              EXPECT_EQ(out[o * stride + i], 7) << "wrote past the end";
          }
        }
}

TEST_P(CpuKernels, TiledSums) {
  const std::vector<uint32_t> offsets = {5, 0, 17, 17, 2, 30, 9};
  size_t terms = offsets.size();
  for (size_t outputs = 1; outputs <= tileOutputs; ++outputs)
    for (size_t n : {0, 1, 7, 16, 31, 40, 60, 64, 131})
      for (Rounding rounding : roundings)
        for (bool hasStarts : {false, true}) {
          size_t stride = n + 3;
          // Exactly as long as is read.
          Floats x = randomFloats(n + 30), starts = randomFloats(tileOutputs);
          Floats weights = randomFloats(tileOutputs * terms, -1, 1, 2);
          Floats before = randomFloats(outputs * stride, -1, 1, 3),
                 out = before;
          tiledSums(
              n, {terms, offsets.data(), x.data()},
              {outputs, weights.data(), hasStarts ? starts.data() : nullptr},
              {out.data(), stride}, rounding);
          for (size_t o = 0; o < outputs; ++o)
            for (size_t i = 0; i < stride; ++i) {
              size_t at = o * stride + i;
              double sum = hasStarts ? starts[o] : before[at];
              for (size_t t = 0; i < n && t < terms; ++t)
                sum += double(weights[t * tileOutputs + o]) * x[offsets[t] + i];
              if (i < n)
                EXPECT_TRUE(isNear(out[at], sum, rounding, 1e-6, 1e-6));
              else
                EXPECT_EQ(out[at], before[at]) << "wrote past the end";
            }
        }
}

TEST_P(CpuKernels, PanelSums) {
  size_t width = vectorOutputs();
  ASSERT_EQ(panelOutputs() % width, 0u);
  std::vector<std::pair<size_t, size_t>> sizes = {{width + 1, 600},
                                                  {panelOutputs(), 1100}};
  for (size_t outputs = 1; outputs <= panelOutputs(); ++outputs)
    sizes.push_back({outputs, 7});
  for (auto [outputs, terms] : sizes) {
    std::vector<uint32_t> offsets;
    for (size_t term = 0; term < terms; ++term)
      offsets.push_back(uint32_t(term * 11 % 31));
    for (size_t n : {0, 1, 5, 6, 15, 16, 29, 48})
      for (Rounding rounding : roundings)
        for (bool hasStarts : {false, true}) {
          size_t padded = (outputs + width - 1) / width * width;
          std::vector<uint32_t> at;
          for (size_t i = 0; i < n; ++i)
            at.push_back(uint32_t(i / 5 * 13 + i % 5));
          Floats x = randomFloats(31 + 48 / 5 * 13 + 5);
          Floats weights = randomFloats(terms * padded, -1, 1, 2);
          Floats starts = randomFloats(padded, -1, 1, 3);
          Floats sums((n + width) * padded);
          size_t stride = n + 3;
          Floats before = randomFloats(outputs * stride, -1, 1, 4),
                 out = before;
          panelSums(
              {n, at.data()}, {terms, offsets.data(), x.data()},
              {outputs, weights.data(), hasStarts ? starts.data() : nullptr},
              sums.data(), {out.data(), stride}, rounding);
          for (size_t o = 0; o < outputs; ++o)
            for (size_t i = 0; i < stride; ++i) {
              size_t place = o * stride + i;
              if (i >= n) {
                EXPECT_EQ(out[place], before[place]) << "wrote past the end";
                continue;
              }
              double sum = hasStarts ? starts[o] : 0;
              for (size_t t = 0; t < terms; ++t)
                sum += double(weights[t * padded + o]) * x[at[i] + offsets[t]];
              EXPECT_TRUE(isNear(out[place], sum, rounding, 1e-6,
                                 2e-7 * double(terms)));
            }
        }
  }
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

double remainderOf(double a, double b) {
  double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                      : remainder;
}

TEST_P(CpuKernels, DivisionsThatRoundDown) {
  Floats a = specialValues(), b = specialValues();
  std::reverse(b.begin(), b.end());
  auto add = [&](const Floats &first, const Floats &second) {
    a.insert(a.end(), first.begin(), first.end());
    b.insert(b.end(), second.begin(), second.end());
  };
  add(randomFloats(4001, -9, 9, 3), randomFloats(4001, -3, 3, 4));
  add(randomFloats(4001, -1e12f, 1e12f, 5), randomFloats(4001, -3, 3, 6));
  // Multiples, and the floats beside them.
  for (float divisor : randomFloats(2000, -3, 3, 7))
    for (float factor : {-7.0f, -1.0f, 1.0f, 3.0f, 1000.0f})
      for (float towards : {-infinity, 0.0f, infinity})
        add({std::nextafter(divisor * factor, towards)}, {divisor});
  Floats quotient(a.size()), rest(a.size());
  binary(Binary::FloorDiv, a.size(), a.data(), 1, b.data(), 1, quotient.data(),
         Rounding::None);
  binary(Binary::Mod, a.size(), a.data(), 1, b.data(), 1, rest.data(),
         Rounding::None);
  for (size_t i = 0; i < a.size(); ++i) {
    double exact = std::floor(double(a[i]) / double(b[i]));
    EXPECT_TRUE(isNear(quotient[i], exact, Rounding::None, 6e-8))
        << a[i] << " / " << b[i];
    exact = remainderOf(a[i], b[i]);
    EXPECT_TRUE(isNear(rest[i], exact, Rounding::None, 6e-8))
        << a[i] << " mod " << b[i];
  }
}

TEST_P(CpuKernels, Prelu) {
  Floats x = specialValues();
  Floats slope(x.size(), 0.125f), out(x.size());
  binary(Binary::Prelu, x.size(), x.data(), 1, slope.data(), 1, out.data(),
         Rounding::None);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_TRUE(isSame(out[i], x[i] < 0 ? 0.125f * x[i] : x[i])) << x[i];
}

TEST_P(CpuKernels, Int8) {
  Floats x = specialValues();
  for (float number = -140; number < 140; number += 0.25f)
    x.push_back(number * 0.375f);
  Floats scale(x.size(), 0.375f), out(x.size());
  binary(Binary::Int8, x.size(), x.data(), 1, scale.data(), 1, out.data(),
         Rounding::None);
  for (size_t i = 0; i < x.size(); ++i) {
    double number = std::nearbyint(double(x[i]) / 0.375);
    number = std::isnan(number) ? 0 : std::clamp(number, -128.0, 127.0);
    EXPECT_TRUE(isSame(out[i], float(number) + 0.0f)) << x[i];
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
      bool hasNaN = std::isnan(values[i]) || std::isnan(second);
      float expected = hasNaN ? nan : std::max(values[i], second);
      EXPECT_TRUE(isSame(greatest[i], expected));
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
      {Unary::Acos, [](double x) { return std::acos(x); }},
      {Unary::Asin, [](double x) { return std::asin(x); }},
      {Unary::Atan, [](double x) { return std::atan(x); }},
      {Unary::Atanh, [](double x) { return std::atanh(x); }},
      {Unary::Cos, [](double x) { return std::cos(x); }},
      {Unary::Cosh, [](double x) { return std::cosh(x); }},
      {Unary::Sin, [](double x) { return std::sin(x); }},
      {Unary::Sinh, [](double x) { return std::sinh(x); }},
      {Unary::Tan, [](double x) { return std::tan(x); }},
      {Unary::Softplus,
       [](double x) {
         return std::fmax(x, 0) + std::log1p(std::exp(-std::abs(x)));
       },
       0, 0, 4e-7},
      {Unary::Softsign,
       [](double x) { return std::isinf(x) ? NAN : x / (1 + std::abs(x)); }},
      {Unary::Elu, [](double x) { return x < 0 ? 0.75 * std::expm1(x) : x; },
       0.75f},
      {Unary::ClampedRelu,
       [](double x) { return std::min(x < 0 ? 0.125 * x : x, 5.0); }, 0.125f,
       5},
      {Unary::ScaledTanh, [](double x) { return 1.5 * std::tanh(0.25 * x); },
       1.5f, 0.25f, 3e-7},
      {Unary::SigmoidHard,
       [](double x) { return std::min(std::max(0.25 * x + 0.5, 0.0), 1.0); },
       0.25f, 0.5f, 2e-7, 2e-8},
      {Unary::Threshold, [](double x) { return std::max(x, 0.25); }, 0.25f, 0,
       0},
      {Unary::ThresholdedRelu, [](double x) { return x >= 0.25 ? x : 0; },
       0.25f, 0, 0},
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
  unsigned seed = 5;
  for (float range : {0.01f, 1.0f, 10.0f, 120.0f, 3e38f}) {
    Floats more = randomFloats(4001, -range, range, seed++);
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

TEST_P(CpuKernels, SoftmaxOfSeveralRows) {
  for (Rounding rounding : roundings)
    for (size_t rows : {0, 1, 7, 8, 9, 17})
      for (size_t n : {1, 5, 16, 67, 511, 600}) {
        Floats x = randomFloats(rows * n, -10, 10), out(rows * n + 1, 7);
        Floats inPlace = x;
        softmaxRows(rows, n, x.data(), out.data(), rounding);
        softmaxRows(rows, n, inPlace.data(), inPlace.data(), rounding);
        for (size_t row = 0; row < rows; ++row) {
          std::vector<double> expected = softmaxOf(n, 1, x.data() + row * n);
          for (size_t i = 0; i < n; ++i) {
            float value = out[row * n + i];
            EXPECT_TRUE(isNear(value, expected[i], rounding, 1.5e-6));
            EXPECT_TRUE(isSame(value, inPlace[row * n + i]));
          }
        }
        EXPECT_EQ(out[rows * n], 7) << "wrote past the end";
      }
}

TEST_P(CpuKernels, SoftmaxOfColumns) {
  for (Rounding rounding : roundings)
    for (size_t rows : {0, 1, 5, 301})
      for (size_t columns : {1, 15, 16, 67, 130}) {
        size_t stride = columns + 3;
        Floats x = randomFloats(rows * stride + 1, -10, 10);
        Floats out(x.size(), 7), inPlace = x;
        softmaxColumns({rows, columns, stride, x.data()}, out.data(), rounding);
        softmaxColumns({rows, columns, stride, inPlace.data()}, inPlace.data(),
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

//===-- Normalization -----------------------------------------------------===//

TEST_P(CpuKernels, NormalizedRows) {
  for (Rounding rounding : roundings)
    for (size_t n : {0, 1, 7, 16, 31, 131}) {
      Floats x = randomFloats(n, 99, 101), out(n + 1, 7);
      normalizeRow(n, x.data(), {100.0, 3.0}, {0.25, -2.0}, out.data(),
                   rounding);
      for (size_t i = 0; i < n; ++i)
        EXPECT_TRUE(
            isNear(out[i], (double(x[i]) - 100) * 0.75 - 2, rounding, 6e-8));
      EXPECT_EQ(out[n], 7) << "wrote past the end";
    }
}

//===-- Reductions --------------------------------------------------------===//

double reductionOf(Reduce kind, size_t n, size_t stride, const float *x) {
  double sum = 0, product = 1, greatest = -infinity, least = infinity;
  for (size_t i = 0; i < n; ++i) {
    double value = x[i * stride];
    greatest = std::max(greatest, value);
    least = std::min(least, value);
    product *= value;
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
  case Reduce::LogSum:
    return std::log(sum);
  case Reduce::Product:
    return product;
  default:
    return sum;
  }
}

constexpr Reduce reductions[] = {
    Reduce::L1,      Reduce::L2,   Reduce::LogSum,
    Reduce::Max,     Reduce::Mean, Reduce::Min,
    Reduce::Product, Reduce::Sum,  Reduce::SumSquare};

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

TEST_P(CpuKernels, ReductionsOfSeveralRows) {
  for (Reduce kind : reductions)
    for (Rounding rounding : roundings)
      for (size_t n : {0, 1, 15, 112}) {
        size_t rows = 19;
        Floats x = randomFloats(rows * n, -1, 2), out(rows + 1, 7);
        reduceRows(kind, rows, n, x.data(), out.data(), rounding);
        for (size_t row = 0; row < rows; ++row)
          EXPECT_TRUE(isSame(out[row],
                             reduceRow(kind, n, x.data() + row * n, rounding)));
        EXPECT_EQ(out[rows], 7) << "wrote past the end";
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
          reduceColumns(kind, {rows, columns, stride, x.data()}, out.data(),
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
  for (Reduce kind : {Reduce::Max, Reduce::Min})
    EXPECT_TRUE(std::isnan(reduceRow(kind, 4, spoilt.data(), Rounding::None)));
}

} // namespace
} // namespace anec::cpu
