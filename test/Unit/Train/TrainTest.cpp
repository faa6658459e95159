//===- TrainTest.cpp - masks, data order, learning rate, optimizer --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/AdamW.h"
#include "anec/Train/LossScale.h"
#include "anec/Train/RunTimes.h"
#include "anec/Train/TokenData.h"
#include "anec/Train/TrainLog.h"
#include "lib/Package/MaskDraw.h"
#include "lib/Support/Half.h"
#include "lib/Train/Checkpoint.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

using namespace anec;
using namespace anec::test;

//===----------------------------------------------------------------------===//
// Random masks
//===----------------------------------------------------------------------===//

/// The bits of the elements of a mask of 1000 elements.
static std::vector<uint16_t> drawn(const MaskDraw &draw, uint64_t input,
                                   RandomMask mask = {0.75f, true}) {
  std::vector<uint8_t> bytes(2000);
  draw.draw(mask, {DType::FP16, {10, 100}}, input, bytes);
  std::vector<uint16_t> halves(1000);
  std::memcpy(halves.data(), bytes.data(), bytes.size());
  return halves;
}

TEST(MaskDraw, KeepsAShare) {
  std::vector<uint16_t> mask = drawn({7, 1, 0}, 0);
  auto kept = std::count(mask.begin(), mask.end(), floatToHalf(4.0f / 3));
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 0), 1000 - kept);
  EXPECT_NEAR(double(kept), 750, 50);
  mask = drawn({7, 1, 0}, 0, {0.25f, false});
  EXPECT_NEAR(std::count(mask.begin(), mask.end(), floatToHalf(1)), 250, 50);
  mask = drawn({7, 1, 0}, 0, {1, false});
  EXPECT_EQ(std::count(mask.begin(), mask.end(), floatToHalf(1)), 1000);
}

TEST(MaskDraw, DiffersBySeedStepRunAndInput) {
  std::set<std::vector<uint16_t>> masks;
  for (uint64_t i = 0; i < 3; ++i)
    for (uint64_t j = 0; j < 3; ++j)
      for (uint64_t k = 0; k < 3; ++k)
        for (uint64_t input = 0; input < 3; ++input)
          masks.insert(drawn({i, j, k}, input));
  EXPECT_EQ(masks.size(), 81u);
  EXPECT_TRUE(masks.count(drawn({2, 1, 0}, 2)));
}

TEST(MaskDraw, HasAMean) {
  std::vector<uint8_t> bytes(8);
  fillMean({0.75f, true}, {DType::FP32, {2}}, bytes);
  float values[2];
  std::memcpy(values, bytes.data(), bytes.size());
  EXPECT_EQ(values[1], 1.0f);
  fillMean({0.75f, false}, {DType::FP32, {2}}, bytes);
  std::memcpy(values, bytes.data(), bytes.size());
  EXPECT_EQ(values[1], 0.75f);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

namespace {
/// 101 tokens, 1 to 101, in two files.
struct TrainData : testing::Test {
  TrainData() {
    std::string first(37, 0), second(64, 0);
    for (int i = 0; i < 101; ++i)
      (i < 37 ? first[i] : second[i - 37]) = char(i + 1);
    folder.write("a.txt", first);
    folder.write("b.txt", second);
    data = TokenData::open({folder / ""}, "", nullptr, 256, diags);
  }
  TemporaryFolder folder;
  Diagnostics diags;
  std::optional<TokenData> data;
};
} // namespace

TEST_F(TrainData, CrossesFiles) {
  ASSERT_TRUE(data);
  ASSERT_EQ(data->size(), 101u);
  std::vector<int32_t> tokens(101);
  data->copy(0, tokens);
  for (int i = 0; i < 101; ++i)
    EXPECT_EQ(tokens[i], i + 1);
  auto windows = Windows::divide(*data, 10, 0.2, 1, diags);
  ASSERT_TRUE(windows);
  EXPECT_EQ(windows->trainingCount(), 8u);
  EXPECT_EQ(windows->validationCount(), 2u);
  std::vector<int32_t> in(10), out(10);
  windows->read(*data, 3, in, out);
  EXPECT_EQ(in.front(), 31);
  EXPECT_EQ(out.back(), 41);
  windows->read(*data, windows->validationWindow(1), in, out);
  EXPECT_EQ(out.back(), 101);
}

TEST_F(TrainData, TakesEachWindowOnceAnEpoch) {
  auto windows = Windows::divide(*data, 2, 0, 7, diags);
  ASSERT_TRUE(windows);
  ASSERT_EQ(windows->trainingCount(), 50u);
  DataPosition position;
  std::vector<uint64_t> epochs[3];
  for (auto &epoch : epochs) {
    for (int i = 0; i < 50; ++i)
      epoch.push_back(windows->next(position));
    EXPECT_EQ(std::set<uint64_t>(epoch.begin(), epoch.end()).size(), 50u);
    EXPECT_FALSE(std::is_sorted(epoch.begin(), epoch.end()));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_EQ(position, (DataPosition{2, 50}));
  // A position is all that is needed to go on.
  DataPosition middle{1, 20};
  auto again = Windows::divide(*data, 2, 0, 7, diags);
  for (int i = 20; i < 50; ++i)
    EXPECT_EQ(again->next(middle), epochs[1][i]);
  auto other = Windows::divide(*data, 2, 0, 8, diags);
  DataPosition start;
  std::vector<uint64_t> order;
  for (int i = 0; i < 50; ++i)
    order.push_back(other->next(start));
  EXPECT_NE(order, epochs[0]);
}

TEST(Train, RunsTakeSeveralExamples) {
  auto order = DataOrder::divide(25, 4, 0.2, 3);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->trainingCount(), 20u);
  EXPECT_EQ(order->validationCount(), 5u);
  EXPECT_EQ(order->validationRuns(), 1u);
  EXPECT_EQ(order->validationRun(0), (std::vector<uint64_t>{20, 21, 22, 23}));
  // 22 examples are five runs an epoch; two are left out.
  order = DataOrder::divide(22, 4, 0, 3);
  ASSERT_TRUE(order);
  DataPosition position;
  std::set<uint64_t> seen;
  for (int run = 0; run < 5; ++run)
    for (uint64_t example : order->next(position))
      seen.insert(example);
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(position, (DataPosition{0, 20}));
  EXPECT_EQ(order->next(position).size(), 4u);
  EXPECT_EQ(position, (DataPosition{1, 4}));
  EXPECT_FALSE(DataOrder::divide(7, 4, 0.1, 3));
  EXPECT_TRUE(DataOrder::divide(8, 4, 0.1, 3));
}

TEST(Train, LossSeriesStaySmall) {
  LossSeries series;
  constexpr uint64_t count = 100'000;
  for (uint64_t step = 1; step <= count; ++step)
    series.add(step, double(step));
  EXPECT_LE(series.points().size(), LossSeries::most);
  EXPECT_GE(series.points().size(), LossSeries::most / 2);
  EXPECT_EQ(series.points().back().step, count);
  // The mean of 16 steps up to 16, and so on.
  EXPECT_EQ(series.points()[0].step, 16u);
  EXPECT_DOUBLE_EQ(series.points()[0].loss, 8.5);
  EXPECT_DOUBLE_EQ(series.points()[10].loss, 168.5);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// What is left after `step` of a run, by going through all steps, when steps
/// take 1 s, validations 100 s and checkpoints 1000 s.
static uint64_t secondsLeft(const RunSchedule &schedule, uint64_t step) {
  uint64_t seconds = 0;
  for (uint64_t at = step; at <= schedule.steps; ++at) {
    auto isDue = [&](uint64_t every) {
      return at == schedule.steps || (every && at % every == 0);
    };
    seconds += isDue(schedule.saveEvery) ? 1000 : 0;
    if (at == step)
      continue;
    seconds += 1;
    seconds += schedule.validates && isDue(schedule.validateEvery) ? 100 : 0;
  }
  return seconds;
}

TEST(Train, RemainingTimeHasValidationsAndCheckpoints) {
  for (uint64_t steps : {1, 7, 12})
    for (uint64_t validateEvery : {0, 1, 3, 4, 20})
      for (uint64_t saveEvery : {0, 1, 3, 4, 20})
        for (bool validates : {false, true}) {
          RunSchedule schedule{steps, validateEvery, saveEvery, validates};
          RunTimes times(schedule);
          times.steps.add(0.5);
          times.steps.add(1.5);
          times.validations.add(100);
          // The last one takes its whole time.
          times.checkpoints.add(1010);
          times.waits.add(1000);
          for (uint64_t step = 1; step <= steps; ++step) {
            uint64_t left = secondsLeft(schedule, step) + 10;
            char text[32];
            if (left >= 3600)
              std::snprintf(text, sizeof text, "%u:%02u:%02u",
                            unsigned(left / 3600), unsigned(left / 60 % 60),
                            unsigned(left % 60));
            else
              std::snprintf(text, sizeof text, "%u:%02u", unsigned(left / 60),
                            unsigned(left % 60));
            EXPECT_EQ(times.remaining(step), text)
                << steps << ' ' << validateEvery << ' ' << saveEvery << ' '
                << step;
          }
        }
}

TEST(Train, RemainingTimeNamesWhatWasNotMeasured) {
  RunTimes times({.steps = 20, .validateEvery = 0, .saveEvery = 5});
  times.steps.add(1);
  EXPECT_EQ(times.remaining(5), "0:15 + 1 validation + 4 checkpoints");
  EXPECT_EQ(times.others(), "");
  times.checkpoints.add(26);
  times.waits.add(3);
  EXPECT_EQ(times.remaining(10), "0:42 + 1 validation");
  EXPECT_EQ(times.others(), "1 checkpoint in 26.0 s (steps waited 3.0 s)");
  times.validations.add(1);
  times.validations.add(2);
  EXPECT_EQ(times.remaining(20), "0:26");
  EXPECT_EQ(times.others(), "2 validations in 3.0 s, "
                            "1 checkpoint in 26.0 s (steps waited 3.0 s)");
}

TEST(Train, LearningRateRisesAndFalls) {
  Hyperparameters hyper;
  hyper.learningRate = 1;
  hyper.minLearningRate = 0.2;
  hyper.warmup = 10;
  EXPECT_DOUBLE_EQ(hyper.learningRateAt(1), 0.1);
  EXPECT_DOUBLE_EQ(hyper.learningRateAt(10), 1);
  EXPECT_DOUBLE_EQ(hyper.learningRateAt(1000), 1);
  hyper.decaySteps = 110;
  EXPECT_DOUBLE_EQ(hyper.learningRateAt(60), 0.6);
  EXPECT_DOUBLE_EQ(hyper.learningRateAt(110), 0.2);
  EXPECT_DOUBLE_EQ(hyper.learningRateAt(1000), 0.2);
  hyper.warmup = 0;
  EXPECT_GT(hyper.learningRateAt(1), 0.99);
}

TEST(Train, LossScaleHalvesAndDoubles) {
  LossScale scale{8, 0};
  scale.update(true, 3);
  scale.update(true, 3);
  scale.update(false, 3);
  EXPECT_EQ(scale.factor, 4);
  for (int i = 0; i < 3; ++i)
    scale.update(true, 3);
  EXPECT_EQ(scale.factor, 8);
  for (int i = 0; i < 1000; ++i)
    scale.update(true, 0);
  EXPECT_EQ(scale.factor, 8);
  for (int i = 0; i < 100; ++i)
    scale.update(false, 3);
  EXPECT_TRUE(scale.isLeast());
  EXPECT_GT(scale.factor, 0);
}

namespace {
/// Weights and gradients of a matrix and a vector, by a rule.
struct Arrays {
  Arrays() : weights(300'007), gradients(300'007) {
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = std::sin(float(i));
      gradients[i] = std::cos(float(3 * i)) * 1e-2f;
    }
  }
  std::vector<NamedFloats> view(std::vector<float> &of) {
    TensorType matrix(DType::FP32, {300, 1000});
    llvm::MutableArrayRef<float> all(of);
    return {{"a", matrix, all.take_front(300'000)},
            {"b", TensorType(DType::FP32, {7}), all.take_back(7)}};
  }
  std::vector<float> weights, gradients;
};
} // namespace

TEST(Train, OptimizerDoesNotDependOnThreads) {
  Hyperparameters hyper;
  std::vector<std::vector<float>> results;
  std::set<double> norms;
  for (unsigned threads : {1u, 2u, 5u}) {
    Arrays arrays;
    Executor pool(threads);
    AdamW optimizer(arrays.view(arrays.weights), arrays.view(arrays.gradients),
                    pool);
    EXPECT_EQ(optimizer.parameters(), 300'007u);
    ASSERT_EQ(optimizer.moments().size(), 4u);
    EXPECT_EQ(optimizer.moments()[0].name, "a.m");
    norms.insert(optimizer.gradientNorm());
    for (uint64_t update = 1; update <= 3; ++update)
      optimizer.step(hyper, 1e-3, 0.5, 1, update);
    results.push_back(arrays.weights);
  }
  EXPECT_EQ(norms.size(), 1u);
  EXPECT_NEAR(*norms.begin(), 1e-2 * std::sqrt(300'007 / 2.0), 1e-2);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Train, NormIsNotFiniteWhenAGradientIsNot) {
  for (float wrong : {INFINITY, NAN}) {
    Arrays arrays;
    arrays.gradients[123'456] = wrong;
    Executor pool(2);
    AdamW optimizer(arrays.view(arrays.weights), arrays.view(arrays.gradients),
                    pool);
    EXPECT_FALSE(std::isfinite(optimizer.gradientNorm()));
  }
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

/// The elements of an array in a file.
static std::vector<float> stored(const std::string &file, size_t index) {
  Diagnostics diags;
  std::optional<Safetensors> contents = readSafetensors(file, diags);
  if (!contents || index >= contents->arrays.size())
    return {};
  const Constant &array = *contents->arrays[index].array;
  std::vector<float> elements(size_t(array.numElements()));
  array.copyToFloats(elements.data());
  return elements;
}

TEST(Train, CheckpointHasWhatWasThereWhenItWasBegun) {
  for (unsigned threads : {1u, 3u}) {
    TemporaryFolder made;
    Diagnostics diags;
    std::error_code code;
    std::optional<Folder> folder = Folder::open(made / "", code);
    ASSERT_TRUE(folder);
    Executor executor(threads);
    CheckpointWriter writer(std::make_shared<Folder>(std::move(*folder)), 2);
    Arrays arrays;
    for (uint64_t step = 1; step <= 4; ++step) {
      std::vector<float> weights = arrays.weights, moments = arrays.gradients;
      TrainState state;
      state.step = step;
      EXPECT_FALSE(writer.isWriting());
      ASSERT_TRUE(writer.begin(state, arrays.view(arrays.weights),
                               arrays.view(arrays.gradients), executor, diags));
      EXPECT_TRUE(writer.isWriting());
      for (int update = 0; update < 3; ++update) {
        writer.aboutToChange();
        for (size_t i = 0; i < weights.size(); ++i)
          arrays.weights[i] += arrays.gradients[i] *= 1.5f;
      }
      std::optional<double> seconds = writer.finish(diags);
      ASSERT_TRUE(seconds) << messages(diags);
      EXPECT_GT(*seconds, 0);
      std::optional<Checkpoint> read = readCheckpoint(made / "", diags);
      ASSERT_TRUE(read) << messages(diags);
      EXPECT_EQ(read->state.step, step);
      weights.resize(300'000);
      moments.resize(300'000);
      EXPECT_EQ(stored(read->weights(), 0), weights);
      EXPECT_EQ(stored(read->optimizer(), 0), moments);
    }
    EXPECT_EQ(listCheckpoints(made / "").size(), 2u);
  }
}

TEST(Train, CheckpointThatIsNotFinishedIsLeftOut) {
  TemporaryFolder made;
  Diagnostics diags;
  std::error_code code;
  auto folder = std::make_shared<Folder>(*Folder::open(made / "", code));
  Executor executor(1);
  Arrays arrays;
  {
    CheckpointWriter writer(folder, 2);
    ASSERT_TRUE(
        writer.begin({}, arrays.view(arrays.weights), {}, executor, diags));
  }
  EXPECT_TRUE(folder->names().empty());
}
