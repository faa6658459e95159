//===- PublishedTimes.cpp - published measurements ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Predict.h"
#include "lib/Support/Digest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace anec;

static constexpr int64_t M = 1000 * 1000;
static constexpr llvm::StringLiteral maderix = "maderix/ANE";
static constexpr llvm::StringLiteral devErik = "dev-erik/ANE (M4 Max)";
static constexpr llvm::StringLiteral rustane = "rustane (M4 Max)";
static constexpr llvm::StringLiteral forge = "ANEForge docs";
static constexpr llvm::StringLiteral lilBro = "lil-bro (M3 Max)";
static constexpr llvm::StringLiteral q38 = "q38 (M5 Max)";

/// A chain of 1x1 convolutions over `positions`. All convolutions of the
/// published programs name one record of the weight file, so its bytes move
/// once.
static constexpr PublishedTime::Programs chain(int64_t depth, int64_t channels,
                                               int64_t positions,
                                               unsigned ioBytes = 4) {
  uint64_t weight = uint64_t(2 * channels * channels);
  return {1,
          {2 * channels * channels * positions * depth, 0,
           weight + uint64_t(2 * channels * positions) * ioBytes}};
}

/// One 1x1 convolution. `readings` is 2 for weights that stream at half the
/// rate (the rule bandwidth-notch).
static constexpr PublishedTime::Programs conv(int64_t inputs, int64_t outputs,
                                              int64_t positions,
                                              unsigned readings = 1) {
  return {1,
          {2 * inputs * outputs * positions, 0,
           uint64_t(2 * inputs * outputs) * readings +
               uint64_t(2 * (inputs + outputs) * positions)}};
}

/// The same with weights of one byte, which are read as they are stored.
static constexpr PublishedTime::Programs
int8Conv(int64_t inputs, int64_t outputs, int64_t positions) {
  return {1,
          {2 * inputs * outputs * positions, 0,
           uint64_t(inputs * outputs + 2 * (inputs + outputs) * positions)}};
}

/// The product of an [extent, extent] input and one of 256 columns.
static constexpr PublishedTime::Programs columns256(int64_t extent) {
  return {1,
          {0, 2 * extent * extent * 256,
           uint64_t(2 * extent * extent + 4 * extent * 256)}};
}

/// 64 squares, one after another, of `channels` x 32 elements.
static constexpr PublishedTime::Programs squares(int64_t channels) {
  uint64_t bytes = uint64_t(2 * 32 * channels);
  return {1, {0, 64 * 32 * channels, 2 * bytes, 64 * 2 * bytes}};
}

static constexpr PublishedTime::Programs matmul(int64_t extent) {
  return {1, {0, 2 * extent * extent * extent, uint64_t(6 * extent * extent)}};
}

/// The two forward programs of a Stories110M layer: 768 channels, 2048 hidden,
/// 256 positions. Their outputs include the values that the backward pass
/// needs.
static constexpr Work attention = {1208 * M, 201 * M, 7471104, 16912384};
static constexpr Work feedForward = {2416 * M, 4 * M, 13762560, 19009536};
static constexpr std::array<PublishedTime::Programs, 2> forward = {
    {{12, attention}, {12, feedForward}}};

static constexpr PublishedTime published[] = {
    {"m1", "Stories110M forward, 24 programs", "maderix/ANE #24 (M1 Pro)",
     forward, 15.227, true},
    {"m1",
     "Stories110M forward, 1 program",
     "maderix/ANE #24 (M1 Pro)",
     {{{1, {43488 * M, 2460 * M, 171000000, 308379648}}}},
     5.081,
     true},
    {"m1", "Stories110M step, `ane` timer", "maderix/ANE #3 (M1 Pro)", forward,
     33.5},
    {"m3",
     "128 convolutions of 512 over 2048",
     "maderix/ANE (M3 Pro)",
     {{chain(128, 512, 2048)}},
     8.195,
     true},
    {"m3",
     "128 convolutions of 512 over 64",
     "maderix/ANE (M3 Pro)",
     {{chain(128, 512, 64)}},
     0.430},
    {"m3",
     "matmul of 256 x 256 and 256 x 256",
     lilBro,
     {{columns256(256)}},
     0.22},
    {"m3",
     "matmul of 512 x 512 and 512 x 256",
     lilBro,
     {{columns256(512)}},
     0.16},
    {"m3",
     "matmul of 768 x 768 and 768 x 256",
     lilBro,
     {{columns256(768)}},
     0.15},
    {"m3",
     "matmul of 1024 x 1024 and 1024 x 256",
     lilBro,
     {{columns256(1024)}},
     0.19},
    {"m3",
     "matmul of 2048 x 2048 and 2048 x 256",
     lilBro,
     {{columns256(2048)}},
     0.46},
    {"m3-ultra",
     "128 convolutions of 512 over 64",
     maderix,
     {{chain(128, 512, 64)}},
     0.531,
     true},
    {"m3-ultra", "Stories110M step, `ane` timer", "maderix/ANE #3", forward,
     10},
    {"m3-ultra", "Stories110M step, `ane` timer", "maderix/ANE, second run",
     forward, 13.9},
    {"m4",
     "128 convolutions of 512 over 64 x 64",
     maderix,
     {{chain(128, 512, 4096, 2)}},
     14.8,
     true},
    {"m4",
     "64 convolutions of 512 over 64 x 64",
     maderix,
     {{chain(64, 512, 4096, 2)}},
     7.5},
    {"m4",
     "128 convolutions of 512 over 64",
     devErik,
     {{chain(128, 512, 64)}},
     0.385,
     true},
    {"m4",
     "96 convolutions of 512 over 64",
     devErik,
     {{chain(96, 512, 64)}},
     0.326,
     true},
    {"m4",
     "64 convolutions of 512 over 64",
     devErik,
     {{chain(64, 512, 64)}},
     0.244,
     true},
    {"m4",
     "48 convolutions of 512 over 64",
     devErik,
     {{chain(48, 512, 64)}},
     0.262,
     true},
    {"m4",
     "32 convolutions of 512 over 64",
     devErik,
     {{chain(32, 512, 64)}},
     0.408},
    {"m4",
     "64 convolutions of 256 over 64",
     devErik,
     {{chain(64, 256, 64)}},
     0.365},
    {"m4",
     "128 convolutions of 256 over 64",
     devErik,
     {{chain(128, 256, 64)}},
     0.454},
    {"m4",
     "256 convolutions of 256 over 64",
     devErik,
     {{chain(256, 256, 64)}},
     0.351},
    {"m4",
     "64 convolutions of 384 over 64",
     devErik,
     {{chain(64, 384, 64)}},
     0.429},
    {"m4",
     "128 convolutions of 384 over 64",
     devErik,
     {{chain(128, 384, 64)}},
     0.354},
    {"m4",
     "convolution of 256 over 64",
     devErik,
     {{conv(256, 256, 64)}},
     0.125},
    {"m4",
     "convolution of 2048 over 64",
     devErik,
     {{conv(2048, 2048, 64)}},
     0.195},
    {"m4",
     "convolution of 2560 over 64",
     devErik,
     {{conv(2560, 2560, 64)}},
     0.270},
    {"m4",
     "convolution of 3072 over 64",
     devErik,
     {{conv(3072, 3072, 64)}},
     0.335},
    {"m4",
     "convolution of 3584 over 64",
     devErik,
     {{conv(3584, 3584, 64)}},
     0.414},
    {"m4",
     "convolution of 4096 over 64",
     devErik,
     {{conv(4096, 4096, 64, 2)}},
     1.134},
    {"m4",
     "convolution of 5120 over 64",
     devErik,
     {{conv(5120, 5120, 64)}},
     0.659,
     true},
    {"m4",
     "convolution of 6144 over 64",
     devErik,
     {{conv(6144, 6144, 64)}},
     0.844,
     true},
    {"m4",
     "convolution of 8192 over 64",
     devErik,
     {{conv(8192, 8192, 64, 2)}},
     4.203},
    {"m4",
     "convolution 768 to 768 over 512",
     rustane,
     {{conv(768, 768, 512)}},
     0.183},
    {"m4",
     "convolution 768 to 3072 over 512",
     rustane,
     {{conv(768, 3072, 512)}},
     0.330},
    {"m4",
     "convolution 3072 to 768 over 512",
     rustane,
     {{conv(3072, 768, 512)}},
     0.746},
    {"m4", "matmul of 2048^3", maderix, {{matmul(2048)}}, 3.014, true},
    {"m4", "matmul of 4096^3", maderix, {{matmul(4096)}}, 34.36},
    {"m4", "Stories110M step, `ane` timer", maderix, forward, 9.6},
    {"m4", "Stories110M step, `ane` timer", "maderix/ANE #3 (M4 Pro)", forward,
     8.9},
    {"m4", "Stories110M step, `ane` timer", "maderix/ANE #3 (M4 Max)", forward,
     10.2},
    {"m5",
     "128 convolutions of 512 over 64",
     "maderix/ANE #3",
     {{chain(128, 512, 64)}},
     0.349},
    {"m5",
     "convolution of 256 over 64",
     "maderix/ANE PR #35",
     {{conv(256, 256, 64)}},
     0.07},
    {"m5",
     "product of a vector with 2048 x 2048",
     forge,
     {{{1, {0, 8400000, 8400000}}}},
     0.133},
    {"m5",
     "relu of 256 x 1024",
     forge,
     {{{1, {0, 262144, 1048576, 1048576}}}},
     0.121},
    {"m5",
     "softmax of 256 x 1024",
     forge,
     {{{1, {0, 1310720, 1048576, 1048576}}}},
     0.139},
    {"m5",
     "attention, 8 heads of 64, 128 positions",
     forge,
     {{{1, {0, 33554432, 524288, 524288}}}},
     0.252},
    {"m5", "Stories110M step, `ane` timer", "maderix/ANE #3", forward, 9.4},
    {"m5", "64 squares of 4 x 32", q38, {{squares(4)}}, 0.127},
    {"m5", "64 squares of 128 x 32", q38, {{squares(128)}}, 0.119},
    {"m5", "64 squares of 2560 x 32", q38, {{squares(2560)}}, 0.295},
    {"m5", "64 squares of 10240 x 32", q38, {{squares(10240)}}, 0.863},
    {"m5",
     "convolution 2560 to 16480 over 32, fp16",
     q38,
     {{conv(2560, 16480, 32)}},
     0.759},
    {"m5",
     "convolution 2560 to 16480 over 32, int8",
     q38,
     {{int8Conv(2560, 16480, 32)}},
     0.385},
    {"m5",
     "convolution 6144 to 2560 over 32, fp16",
     q38,
     {{conv(6144, 2560, 32)}},
     0.308},
    {"m5",
     "convolution 6144 to 2560 over 32, int8",
     q38,
     {{int8Conv(6144, 2560, 32)}},
     0.215},
    {"m5",
     "convolution 5120 to 16480 over 512, fp16",
     q38,
     {{conv(5120, 16480, 512)}},
     12.343},
    {"m5",
     "convolution 5120 to 16480 over 512, int8",
     q38,
     {{int8Conv(5120, 16480, 512)}},
     6.216},
};

llvm::ArrayRef<PublishedTime> anec::publishedTimes() { return published; }

std::string anec::describeError(const Target &target) {
  bool isCompared = llvm::any_of(published, [&](const PublishedTime &time) {
    return time.target == target.name;
  });
  std::string factor = llvm::formatv("{0:f1}", target.cost.errorFactor).str();
  return isCompared ? "within a factor of " + factor + " of what was published"
                    : "taken to be within a factor of " + factor +
                          ", a guess: nothing was published to compare with";
}

double anec::predictMilliseconds(const PublishedTime &time) {
  const Target *target = findTarget(time.target);
  assert(target && "a published time names a target");
  double microseconds = 0;
  for (const PublishedTime::Programs &programs : time.programs)
    if (programs.count)
      microseconds +=
          programs.count * predictMicroseconds(*target, programs.work);
  return microseconds / 1000;
}

//===----------------------------------------------------------------------===//
// Rates
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral anemll = "anemll-bench, lm_head";
static constexpr llvm::StringLiteral roofline = "ANEForge, rooflines";

static constexpr PublishedRate rates[] = {
    {"m1", "M1", true, 60.9, anemll},
    {"m1", "M1 Pro, Max, Ultra", true, 54.7, anemll},
    {"m2", "M2", true, 60.5, anemll},
    {"m2", "M2 Pro, Max, Ultra", true, 61.9, anemll},
    {"m3", "M3", true, 63.1, anemll},
    {"m3", "M3 Max", true, 120.2, anemll},
    {"m4", "M4", true, 64.2, anemll},
    {"m4", "M4 Pro", true, 126.4, anemll},
    {"m4", "M4 Max", true, 118.9, anemll},
    {"m5", "M5", true, 70.2, anemll},
    {"m5", "M5 Max", true, 148.4, anemll},
    {"m6", "M6", true, 152.0, anemll},
    {"m1", "M1", false, 4.3, roofline},
    {"m1", "M1 Pro", false, 2.7, roofline},
    {"m1", "M1 Max", false, 4.6, roofline},
    {"m2", "M2 Pro", false, 3.4, roofline},
    {"m4", "M4", false, 5.4, roofline},
    {"m5", "M5", false, 8.7, roofline},
    {"m5", "M5 Pro", false, 10.0, roofline},
};

llvm::ArrayRef<PublishedRate> anec::publishedRates() { return rates; }

double PublishedRate::anchor() const {
  const CostAnchors &anchors = findTarget(target)->cost;
  return isBandwidth ? anchors.gigabytesPerSecond : anchors.matmulTeraflops;
}

//===----------------------------------------------------------------------===//
// Error
//===----------------------------------------------------------------------===//

/// What the programs of `time` compute and move, as text; the same for rows of
/// the same programs on other chips.
static std::string describeWork(const PublishedTime &time) {
  std::string text;
  for (const auto &[count, work] : time.programs)
    if (count)
      text += llvm::formatv("{0} x {1} + {2} + {3}; ", count, work.convFlops,
                            work.otherFlops, work.bytes);
  return text;
}

bool PublishedTime::isHeldOut() const {
  std::string text = describeWork(*this);
  std::string digest = sha256(llvm::arrayRefFromStringRef(text));
  bool isOdd = llvm::hexDigitValue(digest[1]) % 2; // of the first byte
  return isOdd && llvm::none_of(published, [&](const PublishedTime &other) {
           return other.fitted && describeWork(other) == text;
         });
}

PredictionError anec::errorOfPredictions(bool heldOut, double elementRate) {
  llvm::SmallVector<double> logs;
  for (const PublishedTime &time : published) {
    if (time.isHeldOut() != heldOut)
      continue;
    double microseconds = 0;
    for (auto [count, work] : time.programs) {
      if (!count)
        continue;
      double elements =
          elementRate ? double(work.elementBytes) / (elementRate * 1e3) : 0;
      work.elementBytes = 0;
      microseconds +=
          count *
          (predictMicroseconds(*findTarget(time.target), work) + elements);
    }
    logs.push_back(
        std::fabs(std::log(microseconds / 1000 / time.milliseconds)));
  }
  return summarizeErrors(std::move(logs));
}

PredictionError anec::summarizeErrors(llvm::SmallVector<double> logs) {
  PredictionError error;
  error.count = logs.size();
  if (logs.empty())
    return error;
  llvm::sort(logs);
  size_t half = logs.size() / 2;
  error.median = std::exp(logs.size() % 2 ? logs[half]
                                          : (logs[half - 1] + logs[half]) / 2);
  error.worst = std::exp(logs.back());
  double squares = 0;
  for (double log : logs)
    squares += log * log;
  error.typical = std::exp(std::sqrt(squares / double(logs.size())));
  return error;
}
