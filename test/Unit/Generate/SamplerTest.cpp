//===- SamplerTest.cpp - draws of the next token --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/Sampler.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace anec;

static const float logits[] = {std::log(0.1f), std::log(0.6f), std::log(0.3f)};
static const SamplingOptions all{.temperature = 1, .topP = 1};

/// The probabilities of all ids.
static std::vector<double> probabilities(llvm::ArrayRef<float> logits,
                                         const SamplingOptions &options,
                                         llvm::ArrayRef<int32_t> text = {}) {
  TokenDistribution tokens = *Sampler(options).distribution(logits, text);
  std::vector<double> found;
  for (size_t id = 0; id < logits.size(); ++id)
    found.push_back(tokens.probabilityOf(int32_t(id)));
  return found;
}

static void expectNear(const std::vector<double> &found,
                       const std::vector<double> &wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t id = 0; id < wanted.size(); ++id)
    EXPECT_NEAR(found[id], wanted[id], 1e-7) << id;
}

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

TEST(Sampler, IsTheSoftmax) {
  expectNear(probabilities(logits, all), {0.1, 0.6, 0.3});
  // Over a large range: weights are right to a share of 2^-40.
  for (float far : {0.5f, 3.0f, 12.0f, 20.0f, 27.0f}) {
    double share = std::exp(-double(far)) / (1 + std::exp(-double(far)));
    EXPECT_NEAR(probabilities({0, -far}, all)[1], share, 1e-12) << far;
  }
  EXPECT_EQ(probabilities({0, -30}, all)[1], 0);
}

TEST(Sampler, TemperatureIsAnExponent) {
  // Squares: 0.01, 0.36, 0.09, of 0.46 together.
  expectNear(probabilities(logits, {.temperature = 0.5, .topP = 1}),
             {0.01 / 0.46, 0.36 / 0.46, 0.09 / 0.46});
}

TEST(Sampler, TopPKeepsTheSmallestSetOfAtLeastThatMuch) {
  // 0.6 is less than 0.7, and 0.6 + 0.3 is not.
  expectNear(probabilities(logits, {.temperature = 1, .topP = 0.7}),
             {0, 2 / 3.0, 1 / 3.0});
  expectNear(probabilities(logits, {.temperature = 1, .topP = 0.59}),
             {0, 1, 0});
  expectNear(probabilities(logits, {.temperature = 1, .topP = 0.91}),
             {0.1, 0.6, 0.3});
  // Of equals, the lower ids.
  expectNear(probabilities({0, 0, 0, 0}, {.temperature = 1, .topP = 0.5}),
             {0.5, 0.5, 0, 0});
}

TEST(Sampler, TopKKeepsAsMany) {
  SamplingOptions two = all;
  two.topK = 2;
  expectNear(probabilities(logits, two), {0, 2 / 3.0, 1 / 3.0});
  expectNear(probabilities({1, 1, 1}, two), {0.5, 0.5, 0});
  two.topK = 9;
  expectNear(probabilities(logits, two), {0.1, 0.6, 0.3});
}

TEST(Sampler, MinPIsAShareOfTheMostLikely) {
  SamplingOptions half = all;
  half.minP = 0.4; // 0.24 at least
  expectNear(probabilities(logits, half), {0, 2 / 3.0, 1 / 3.0});
  half.minP = 0.6; // 0.36
  expectNear(probabilities(logits, half), {0, 1, 0});
  half.minP = 1;
  expectNear(probabilities({2, 2, 1}, half), {0.5, 0.5, 0});
}

TEST(Sampler, RepeatPenaltyDividesOrMultiplies) {
  // Odds of e^2, e^1, e^-1; e^(2/2), e^1, e^(-1*2) when all have occurred.
  std::vector<float> three = {2, 1, -1};
  SamplingOptions penalty = all;
  penalty.repeatPenalty = 2;
  double e = std::exp(1);
  double sum = e + e + 1 / e;
  expectNear(probabilities(three, penalty, {0}),
             {e / sum, e / sum, 1 / e / sum});
  sum = e * e + e + 1 / e / e;
  expectNear(probabilities(three, penalty, {2, 2, 2}),
             {e * e / sum, e / sum, 1 / e / e / sum});
  // Only the last one is recent.
  penalty.repeatWindow = 1;
  expectNear(probabilities(three, penalty, {0, 2}),
             {e * e / sum, e / sum, 1 / e / e / sum});
  penalty.repeatWindow = 0;
  sum = e + e + 1 / e / e;
  expectNear(probabilities(three, penalty, {0, 2}),
             {e / sum, e / sum, 1 / e / e / sum});
  // It counts for the most likely token too.
  penalty.temperature = 0;
  penalty.repeatPenalty = 3;
  EXPECT_EQ(Sampler(penalty).sample(three, {0}), 1);
}

TEST(Sampler, FiltersApplyInOrder) {
  // Top-k leaves 0.6 and 0.3, two thirds and one third, of which top-p keeps
  // the first: it would keep both if it came before.
  SamplingOptions both{.temperature = 1, .topP = 0.65};
  both.topK = 2;
  expectNear(probabilities(logits, both), {0, 1, 0});
  // The temperature comes before top-p: 0.36 of 0.46 is more than 0.7.
  expectNear(probabilities(logits, {.temperature = 0.5, .topP = 0.7}),
             {0, 1, 0});
}

TEST(Sampler, ChecksOptions) {
  EXPECT_EQ(checkSampling({}), "");
  EXPECT_NE(checkSampling({.temperature = -1}), "");
  EXPECT_NE(checkSampling({.temperature = NAN}), "");
  EXPECT_NE(checkSampling({.topP = 0}), "");
  SamplingOptions options;
  options.minP = 1.5;
  EXPECT_NE(checkSampling(options), "");
  options.minP = 0;
  options.repeatPenalty = 0;
  EXPECT_NE(checkSampling(options), "");
}

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

TEST(Sampler, DrawsByProbability) {
  Sampler sampler({.temperature = 1, .topP = 1, .seed = 3});
  std::vector<int> counts(3);
  for (int i = 0; i < 100'000; ++i)
    ++counts[*sampler.sample(logits)];
  // Five times the deviation of a binomial distribution.
  EXPECT_NEAR(counts[0], 10'000, 5 * std::sqrt(100'000 * 0.1 * 0.9));
  EXPECT_NEAR(counts[1], 60'000, 5 * std::sqrt(100'000 * 0.6 * 0.4));
  EXPECT_NEAR(counts[2], 30'000, 5 * std::sqrt(100'000 * 0.3 * 0.7));
}

TEST(Sampler, DrawsTheSameEverywhere) {
  Sampler sampler({.temperature = 1, .topP = 1, .seed = 5});
  std::vector<int32_t> drawn;
  for (int i = 0; i < 12; ++i)
    drawn.push_back(*sampler.sample({0, 1, 2, 0.5}));
  // The first outputs of mt19937_64 with seed 5, times the sum of the weights.
  EXPECT_EQ(drawn, (std::vector<int32_t>{2, 0, 1, 2, 1, 1, 1, 2, 2, 1, 0, 2}));
}

TEST(Sampler, ZeroTakesTheFirstOfTheMostLikely) {
  Sampler sampler({.temperature = 0, .topP = 1});
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

TEST(Sampler, LogProbabilityIsThatOfTheSoftmax) {
  EXPECT_NEAR(logProbability(logits, 0), std::log(0.1), 1e-6);
  EXPECT_NEAR(logProbability({1000, 0}, 1), -1000, 1e-6);
  EXPECT_EQ(logProbability({7}, 0), 0);
}

//===----------------------------------------------------------------------===//
// Speculation
//===----------------------------------------------------------------------===//

TEST(Sampler, VerifiesWithoutAChangeOfTheDistribution) {
  // What a draft of `q` leads to, by 100,000 draws of it.
  const TokenDistribution p({{0, 5}, {1, 3}, {2, 2}, {7, 10}});
  for (const TokenDistribution &q :
       {p, TokenDistribution({{0, 1}, {1, 1}, {2, 1}, {7, 1}}),
        TokenDistribution({{0, 70}, {2, 1}, {5, 29}}),
        TokenDistribution::only(7), TokenDistribution::only(4)}) {
    Sampler sampler({.temperature = 1, .topP = 1, .seed = 11});
    std::vector<int> counts(8);
    int agreed = 0;
    double same = 0;
    for (int i = 0; i < 100'000; ++i) {
      int32_t proposed = sampler.draw(q);
      int32_t id = sampler.verify(p, q, proposed);
      ++counts[id];
      agreed += id == proposed;
    }
    for (int32_t id = 0; id < 8; ++id) {
      double share = p.probabilityOf(id);
      EXPECT_NEAR(counts[id], 100'000 * share,
                  5 * std::sqrt(100'000 * share * (1 - share)))
          << id;
      same += std::min(share, q.probabilityOf(id));
    }
    // Sum of min(p, q): no scheme can accept more.
    EXPECT_NEAR(agreed, 100'000 * same,
                5 * std::sqrt(100'000 * same * (1 - same)));
  }
}
