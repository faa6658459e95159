//===- TargetTest.cpp - targets as data -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Predict.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Ops.h"
#include "lib/Target/Chip.h"
#include "lib/Target/Tasks.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace anec;

TEST(Target, GenericIsTheSafeSideOfAll) {
  const Target &generic = genericTarget();
  EXPECT_EQ(generic.name, "generic");
  for (const Target &target : allTargets().drop_front()) {
    SCOPED_TRACE(target.name.str());
    EXPECT_TRUE(generic.chips.intersects(target.chips));
    const Limits &least = generic.limits, &limits = target.limits;
    EXPECT_LE(least.sramBytes, limits.sramBytes);
    EXPECT_LE(least.surfaceBytes, limits.surfaceBytes);
    EXPECT_LE(least.weightBytes, limits.weightBytes);
    EXPECT_LE(least.weightFiles, limits.weightFiles);
    EXPECT_LE(least.opsPerProgram, limits.opsPerProgram);
    EXPECT_LE(least.rank, limits.rank);
    EXPECT_LE(least.channels, limits.channels);
    EXPECT_LE(least.spatial, limits.spatial);
    EXPECT_LE(least.convInputChannels, limits.convInputChannels);
    EXPECT_LE(least.convOutputChannels, limits.convOutputChannels);
    EXPECT_LE(least.convKernelWidth, limits.convKernelWidth);
    EXPECT_LE(least.convKernelHeight, limits.convKernelHeight);
    EXPECT_LE(least.matmulContraction, limits.matmulContraction);
    EXPECT_LE(least.matmulExtent, limits.matmulExtent);
    EXPECT_LE(least.compilesPerProcess, limits.compilesPerProcess);
    EXPECT_LE(least.loadedPrograms, limits.loadedPrograms);
    EXPECT_GE(generic.surface.minimumBytes, target.surface.minimumBytes);
    EXPECT_GE(predictMicroseconds(generic, {1000000000, 1000000, 10000000}),
              predictMicroseconds(target, {1000000000, 1000000, 10000000}));
  }
}

TEST(Target, IsFoundByName) {
  for (const Target &target : allTargets())
    EXPECT_EQ(findTarget(target.name), &target);
  EXPECT_EQ(findTarget("m0"), nullptr);
}

TEST(Target, IsFoundByHardware) {
  for (const HardwareName &other : hardwareNames()) {
    SCOPED_TRACE(other.name.str());
    ASSERT_NE(findTarget(other.target), nullptr);
    EXPECT_EQ(findTarget(other.name), findTarget(other.target));
    for (const Target &target : allTargets())
      EXPECT_NE(target.name, other.name);
  }
  for (auto [name, target] : {std::pair("h13", "m1"),
                              {"h14", "m2"},
                              {"a16", "m3"},
                              {"h15d", "m3-ultra"},
                              {"a17-pro", "m4"},
                              {"a18-pro", "m5"},
                              {"h18g", "m6"},
                              {"a19", "m6"}})
    EXPECT_EQ(findTarget(name)->name, target);
  for (llvm::StringRef name :
       {"", "h", "h11", "h19", "a13", "a20", "H16", "m7"})
    EXPECT_EQ(findTarget(name), nullptr);
}

TEST(Target, IsFoundByTheSystemsNameOfAChip) {
  for (auto [chip, target] : {std::pair("Apple M1", "m1"),
                              {"Apple M3 Max", "m3"},
                              {"Apple M3 Ultra", "m3-ultra"},
                              {"Apple M6", "m6"},
                              {"Apple A17 Pro", "m4"},
                              {"Apple A19 Pro", "m6"}})
    EXPECT_EQ(findTargetOfChip(chip), findTarget(target)) << chip;
  for (llvm::StringRef chip :
       {"", "Apple processor", "Apple M10", "Apple M61", "Apple A1", "XM4"})
    EXPECT_EQ(findTargetOfChip(chip), nullptr) << chip.str();
}

TEST(Target, TwoEnginesOfOneChipShareItsBandwidth) {
  // Of the M6: one engine computes, and both together read the weights.
  const Target &m6 = *findTarget("m6");
  EXPECT_DOUBLE_EQ(m6.cost.convTeraflops, 20.6);
  EXPECT_DOUBLE_EQ(m6.cost.gigabytesPerSecond, 150);
}

TEST(Target, ChipSetsAreSpelledByTarget) {
  EXPECT_EQ(ChipSet::all().str(), "all");
  EXPECT_EQ(ChipSet({Chip::M3Ultra, Chip::M1}).str(), "m1, m3-ultra");
}

TEST(Target, SurfacesHavePaddedRows) {
  SurfaceRule rule = genericTarget().surface;
  // 768 rows of 32 bytes take 64 each: the minimum that was published as such.
  EXPECT_EQ(surfaceBytes(rule, {DType::FP16, {1, 768, 1, 16}}), 49152u);
  EXPECT_EQ(surfaceBytes(rule, {DType::FP16, {1, 800, 1, 1}}), 51200u);
  EXPECT_EQ(surfaceBytes(rule, {DType::FP16, {1, 1024, 1, 32}}), 65536u);
  EXPECT_EQ(surfaceBytes(rule, {DType::FP32, {1, 1024, 1, 33}}), 196608u);
  EXPECT_EQ(surfaceBytes(rule, {DType::FP16}), 49152u);
}

TEST(Target, TimeIsTheFloorAndTheLongerOfComputingAndMoving) {
  const Target &target = *findTarget("m4");
  double floor = target.cost.floorMicroseconds;
  EXPECT_DOUBLE_EQ(predictMicroseconds(target, {}), floor);
  double seconds = 1e9 / (target.cost.convTeraflops * 1e12);
  EXPECT_DOUBLE_EQ(predictMicroseconds(target, {1000000000, 0, 0}),
                   floor + seconds * 1e6);
  double move = 1e9 / (target.cost.gigabytesPerSecond * 1e9);
  EXPECT_DOUBLE_EQ(predictMicroseconds(target, {1, 1, 1000000000}),
                   floor + move * 1e6);
  double elements = 1e9 / (target.cost.elementGigabytesPerSecond * 1e9);
  EXPECT_DOUBLE_EQ(predictMicroseconds(target, {1, 1, 1000000000, 1000000000}),
                   floor + (move + elements) * 1e6);
}

TEST(Target, PredictionsAreWithinTheErrorTheyState) {
  unsigned unfitted = 0;
  for (const PublishedTime &time : publishedTimes()) {
    SCOPED_TRACE(time.target.str() + ": " + time.what.str() + ", " +
                 time.source.str());
    const Target *target = findTarget(time.target);
    ASSERT_NE(target, nullptr);
    double ratio = predictMilliseconds(time) / time.milliseconds;
    EXPECT_LE(ratio, target->cost.errorFactor);
    EXPECT_GE(ratio, 1 / target->cost.errorFactor);
    unfitted += !time.fitted;
  }
  EXPECT_GE(unfitted, 15u);
}

TEST(Target, ElementRateIsFittedToRowsThatAreNotHeldOut) {
  // The least squares of logarithms of ratios, in steps of 5 GB/s.
  auto squares = [](double rate) {
    return std::pow(std::log(errorOfPredictions(false, rate).typical), 2);
  };
  double best = 20;
  for (double rate = 20; rate <= 400; rate += 5)
    if (squares(rate) < squares(best))
      best = rate;
  for (const Target &target : allTargets())
    EXPECT_EQ(target.cost.elementGigabytesPerSecond, best) << target.name.str();
}

TEST(Target, ElementsLowerTheErrorOfRowsThatAreHeldOut) {
  double rate = genericTarget().cost.elementGigabytesPerSecond;
  PredictionError before = errorOfPredictions(true, 0),
                  after = errorOfPredictions(true, rate);
  EXPECT_EQ(before.count, 22u);
  EXPECT_EQ(after.count, 22u);
  EXPECT_NEAR(before.median, 1.225, 0.005);
  EXPECT_NEAR(after.median, 1.196, 0.005);
  EXPECT_NEAR(before.typical, 1.721, 0.005);
  EXPECT_NEAR(after.typical, 1.323, 0.005);
  EXPECT_NEAR(before.worst, 7.10, 0.01);
  EXPECT_NEAR(after.worst, 2.09, 0.01);
  EXPECT_EQ(errorOfPredictions(false, rate).count + after.count,
            publishedTimes().size());
}

TEST(Target, RowsOfOneProgramAreHeldOutTogether) {
  unsigned steps = 0;
  for (const PublishedTime &time : publishedTimes()) {
    EXPECT_FALSE(time.fitted && time.isHeldOut()) << time.what.str();
    // The programs of a step are those of the forward row, which is fitted.
    if (time.what.starts_with("Stories110M step")) {
      EXPECT_FALSE(time.isHeldOut()) << time.source.str();
      ++steps;
    }
  }
  EXPECT_EQ(steps, 7u);
}

TEST(Target, SummaryOfErrors) {
  PredictionError none = summarizeErrors({});
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(none.worst, 1);
  PredictionError error =
      summarizeErrors({std::log(4.0), 0, std::log(2.0), std::log(8.0)});
  EXPECT_EQ(error.count, 4u);
  EXPECT_DOUBLE_EQ(error.median, std::sqrt(8.0)); // between 2 and 4
  EXPECT_DOUBLE_EQ(error.worst, 8);
  EXPECT_DOUBLE_EQ(error.typical,
                   std::exp(std::log(2.0) * std::sqrt(14 / 4.0)));
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// The element bytes and the tasks on the M2 of a kernel of `x`, fp16[64, 64].
static std::pair<uint64_t, unsigned> tasksOf(const std::string &body) {
  Diagnostics diags;
  std::unique_ptr<Module> module =
      parseIR(diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
                  "kernel @k(%x: fp16[64, 64]) -> (%y: fp16[64, 64]) {\n" +
                  body + "  return %y\n}\n")),
              opTable(), diags);
  if (!module || diags.hasErrors()) {
    ADD_FAILURE() << body;
    return {};
  }
  const Function &function = *module->functions.front();
  uint64_t bytes = 0;
  for (const Op &op : function.body())
    bytes += elementBytes(op);
  return {bytes, countTasks(function, *findTarget("m2"))};
}

TEST(Tasks, ElementsAreReadOnceAndWritten) {
  constexpr uint64_t array = 64 * 64 * 2;
  using Numbers = std::pair<uint64_t, unsigned>;
  EXPECT_EQ(tasksOf("  %y = relu(%x) : fp16[64, 64]\n"), Numbers(2 * array, 1));
  EXPECT_EQ(tasksOf("  %y = mul(%x, %x) : fp16[64, 64]\n"),
            Numbers(2 * array, 1));
  // Another shape for the same elements is free.
  EXPECT_EQ(tasksOf("  %z = reshape(%x) {shape = [4096]} : fp16[4096]\n"
                    "  %y = reshape(%z) {shape = [64, 64]} : fp16[64, 64]\n"),
            Numbers(0, 0));
  // Of what is sliced, only the part is read.
  EXPECT_EQ(
      tasksOf("  %z = slice_by_size(%x) {begin = [0, 0], size = [1, 64]} : "
              "fp16[1, 64]\n  %y = add(%x, %z) : fp16[64, 64]\n"),
      Numbers(2 * array / 64 + 2 * array + array / 64, 3));
}

TEST(Tasks, ProductsHaveNoElements) {
  using Numbers = std::pair<uint64_t, unsigned>;
  // A task to stage `x` and one to multiply.
  EXPECT_EQ(tasksOf("  %y = matmul(%x, %x) : fp16[64, 64]\n"), Numbers(0, 2));
  // The activation is part of the product's task, unless the product is used
  // elsewhere.
  EXPECT_EQ(tasksOf("  %p = matmul(%x, %x) : fp16[64, 64]\n"
                    "  %y = relu(%p) : fp16[64, 64]\n"),
            Numbers(0, 2));
  EXPECT_EQ(tasksOf("  %p = matmul(%x, %x) : fp16[64, 64]\n"
                    "  %r = relu(%p) : fp16[64, 64]\n"
                    "  %y = add(%p, %r) : fp16[64, 64]\n"),
            Numbers(2 * 8192 + 3 * 8192, 5));
}
