//===- SamplerTest.cpp - draws of the next token --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/Sampler.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace anec;

/// How often each of `logits` is drawn in 20000 times.
static std::vector<double> shares(llvm::ArrayRef<float> logits,
                                  double temperature, double topP) {
  Sampler sampler({temperature, topP, 3});
  std::vector<double> share(logits.size());
  for (int i = 0; i < 20000; ++i)
    share[*sampler.sample(logits)] += 1 / 20000.0;
  return share;
}

static const float logits[] = {std::log(0.1f), std::log(0.6f), std::log(0.3f)};

TEST(Sampler, DrawsByProbability) {
  std::vector<double> share = shares(logits, 1, 1);
  EXPECT_NEAR(share[0], 0.1, 0.01);
  EXPECT_NEAR(share[1], 0.6, 0.01);
  EXPECT_NEAR(share[2], 0.3, 0.01);
}

TEST(Sampler, TemperatureIsAnExponent) {
  // Squares: 0.01, 0.36, 0.09, of 0.46 together.
  std::vector<double> share = shares(logits, 0.5, 1);
  EXPECT_NEAR(share[0], 0.01 / 0.46, 0.01);
  EXPECT_NEAR(share[1], 0.36 / 0.46, 0.01);
}

TEST(Sampler, TopPLeavesTheUnlikelyOut) {
  std::vector<double> share = shares(logits, 1, 0.7);
  EXPECT_EQ(share[0], 0);
  EXPECT_NEAR(share[1], 2 / 3.0, 0.012);
  // One alone has as much.
  EXPECT_EQ(shares(logits, 1, 0.5)[1], shares(logits, 0, 1)[1]);
}

TEST(Sampler, ZeroTakesTheFirstOfTheMostLikely) {
  Sampler sampler({0, 1, 0});
  EXPECT_EQ(sampler.sample({1, 3, 3}), 1);
}

TEST(Sampler, RefusesWhatIsNoNumber) {
  Sampler sampler({});
  EXPECT_EQ(sampler.sample({1, NAN}), std::nullopt);
  EXPECT_EQ(sampler.sample({1, INFINITY}), std::nullopt);
  EXPECT_EQ(sampler.sample({-INFINITY, -INFINITY}), std::nullopt);
  // Excluded ones are.
  EXPECT_EQ(sampler.sample({-INFINITY, 2}), 1);
}
