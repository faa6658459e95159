//===- TargetTest.cpp - targets as data -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Predict.h"
#include "gtest/gtest.h"

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
