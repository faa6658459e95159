//===- HalfTest.cpp - 16-bit floats ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Half.h"
#include "test/Unit/Runtime/CpuReference.h"

namespace anec::cpu {
namespace {

/// With the processor's instructions and without; alone is one element.
class Half : public testing::TestWithParam<HalfInstructions> {
protected:
  std::vector<uint16_t> narrow(const Floats &x) const {
    std::vector<uint16_t> out(x.size());
    floatsToHalves(x.data(), out.data(), x.size(), GetParam());
    return out;
  }
  Floats widen(const std::vector<uint16_t> &x) const {
    Floats out(x.size());
    halvesToFloats(x.data(), out.data(), x.size(), GetParam());
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(Instructions, Half,
                         testing::Values(HalfInstructions::Best,
                                         HalfInstructions::Portable));

TEST_P(Half, EveryHalfRoundTrips) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i)
    halves[i] = uint16_t(i);
  Floats values = widen(halves);
  std::vector<uint16_t> back = narrow(values);
  for (size_t i = 0; i < halves.size(); ++i) {
    ASSERT_TRUE(isSame(values[i], float(valueOfHalf(halves[i])))) << i;
    // Alone and by either instructions, NaN and their bits included.
    ASSERT_EQ(std::bit_cast<uint32_t>(values[i]),
              std::bit_cast<uint32_t>(halfToFloat(halves[i])))
        << i;
    ASSERT_EQ(back[i], floatToHalf(values[i])) << i;
    if (std::isnan(values[i]))
      ASSERT_TRUE(std::isnan(valueOfHalf(back[i]))) << i;
    else
      ASSERT_EQ(back[i], halves[i]);
  }
}

TEST_P(Half, MidpointsTieToEven) {
  // Between two finite neighbours, the midpoint goes to the even one and the
  // floats beside it to the nearer; past 65504 the next would be 65536.
  for (uint16_t half = 0; half < 0x7c00; ++half) {
    double low = valueOfHalf(half);
    double high = half == 0x7bff ? 65536 : valueOfHalf(half + 1);
    auto middle = float((low + high) / 2);
    uint16_t even = half & 1 ? half + 1 : half;
    Floats x(9, middle); // a vector and one element
    x[1] = std::nextafter(middle, 0.0f);
    x[2] = std::nextafter(middle, infinity);
    x[3] = -middle;
    std::vector<uint16_t> expected(9, even);
    expected[1] = half;
    expected[2] = half + 1;
    expected[3] = even | 0x8000;
    ASSERT_EQ(narrow(x), expected) << middle;
  }
}

TEST_P(Half, EveryMagnitude) {
  Floats x(1 << 16);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::bit_cast<float>(uint32_t(i * 65537));
  std::vector<uint16_t> out = narrow(x);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(out[i], floatToHalf(x[i])) << x[i];
    ASSERT_TRUE(isSame(float(valueOfHalf(out[i])), nearestHalf(x[i]))) << x[i];
  }
}

TEST(HalfOfDouble, RoundsOnce) {
  // Around each midpoint of two halves, closer than a float can tell.
  std::vector<double> x = {infinity, -infinity, nan,     1e300, -1e300,
                           1e-300,   -1e-300,   65519.9, 65520, 0x1p-25};
  std::vector<uint16_t> expected = {0x7c00, 0xfc00, 0x7e00, 0x7c00, 0xfc00,
                                    0,      0x8000, 0x7bff, 0x7c00, 0};
  for (uint16_t half = 0; half < 0x7bff; ++half) {
    double middle = (valueOfHalf(half) + valueOfHalf(half + 1)) / 2;
    uint16_t even = half & 1 ? half + 1 : half;
    x.insert(x.end(), {middle, middle * (1 - 1e-15), middle * (1 + 1e-15),
                       -middle * (1 + 1e-15)});
    expected.insert(expected.end(), {even, half, uint16_t(half + 1),
                                     uint16_t((half + 1) | 0x8000)});
  }
  std::vector<uint16_t> out(x.size());
  doublesToHalves(x.data(), out.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(out[i], expected[i]) << x[i];
    ASSERT_EQ(doubleToHalf(x[i]), expected[i]) << x[i];
  }
}

TEST(BFloat16, RoundsToNearestEven) {
  // 1 + 2^-8 lies midway between 1 and the next bfloat16; 1 + 3 * 2^-8 too.
  const Floats x = {1.0f,      1 + 0x1p-8f, 1 + 0x1.8p-7f, 1 + 0x1.02p-8f,
                    -infinity, 3.4e38f,     3.4028235e38f, 0x1p-133f};
  const uint16_t expected[] = {0x3f80, 0x3f80, 0x3f82, 0x3f81,
                               0xff80, 0x7f80, 0x7f80, 0x0001};
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(floatToBFloat(x[i]), expected[i]) << x[i];
  EXPECT_EQ(bfloatToFloat(0x3f82), 1 + 0x1p-6f);
  EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBFloat(nan))));
}

} // namespace
} // namespace anec::cpu
