//===- LayoutTest.cpp - layouts as attributes have them -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/ANE/Layout.h"
#include "gtest/gtest.h"
#include <functional>
#include <limits>

using namespace anec;
using namespace anec::ane;

static const TensorType type(DType::FP16, {2, 3, 4, 40});

/// What the engine could say of `type`, with planes of 512 bytes.
static ReportedLayout paddedPlanes() {
  ReportedLayout reported;
  reported.batches = 2;
  reported.channels = 3;
  reported.depth = 1;
  reported.height = 4;
  reported.width = 40;
  reported.rowStride = 96;
  reported.planeStride = 512;
  reported.batchStride = 2048;
  reported.interleave = 1;
  reported.type = "Float16";
  return reported;
}

TEST(AneLayout, RowsOfPlanesOfBatches) {
  std::string problem;
  auto layout = reportedLayout(type, paddedPlanes(), problem);
  ASSERT_TRUE(layout) << problem;
  EXPECT_FALSE(layout->isDense());
  EXPECT_EQ(layout->offsetOf(0), 0u);
  EXPECT_EQ(layout->offsetOf(3), 3u * 96);
  EXPECT_EQ(layout->offsetOf(4), 512u);
  EXPECT_EQ(layout->offsetOf(12), 2048u);
  EXPECT_EQ(layout->offsetOf(23), 2048u + 2 * 512 + 3 * 96);
  EXPECT_EQ(paddedPlanes().bytes(), 4096u);
  EXPECT_GE(layout->bytes, 4096u);
  // Of more bytes than there are for sure.
  ReportedLayout large = paddedPlanes();
  large.batchStride = 1 << 20;
  EXPECT_EQ(reportedLayout(type, large, problem)->bytes, 2u << 20);
}

TEST(AneLayout, WithoutAttributes) {
  std::string problem;
  auto layout = reportedLayout(type, {}, problem);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->offsetOf(23), 23u * 128);
  EXPECT_EQ(layout->bytes, 49152u);
  // Rows alone.
  ReportedLayout rows;
  rows.rowStride = 80;
  EXPECT_EQ(reportedLayout(type, rows, problem)->offsetOf(23), 23u * 80);
  EXPECT_TRUE(reportedLayout(type, rows, problem)->isDense());
  EXPECT_EQ(denseLayout(type).bytes, 24u * 80);
}

TEST(AneLayout, NoneOfTheType) {
  struct Row {
    std::function<void(ReportedLayout &)> change;
    const char *problem;
  };
  constexpr uint64_t most = std::numeric_limits<uint64_t>::max();
  const Row rows[] = {
      {[](ReportedLayout &l) { l.type = "Float32"; },
       "its elements are Float32"},
      {[](ReportedLayout &l) { l.interleave = 4; }, "the interleave is 4"},
      {[](ReportedLayout &l) { l.width = 64; },
       "rows have 64 elements instead of 40"},
      {[](ReportedLayout &l) { l.channels = 4; },
       "there are 32 rows instead of 24"},
      {[](ReportedLayout &l) { l.channels = most; },
       "there are 18446744073709551615 rows instead of 24"},
      {[](ReportedLayout &l) { l.rowStride = 64; },
       "rows of 80 bytes are 64 bytes apart"},
      {[](ReportedLayout &l) { l.planeStride = 256; },
       "rows are 96 bytes apart, planes of 4 rows 256 bytes, and batches of 3 "
       "planes 2048 bytes"},
      {[](ReportedLayout &l) { l.batchStride = 1024; },
       "rows are 96 bytes apart, planes of 4 rows 512 bytes, and batches of 3 "
       "planes 1024 bytes"},
      {[](ReportedLayout &l) { l.rowStride = most; },
       "rows are 18446744073709551615 bytes apart, planes of 4 rows 512 bytes, "
       "and batches of 3 planes 2048 bytes"},
  };
  for (const Row &row : rows) {
    ReportedLayout reported = paddedPlanes();
    row.change(reported);
    std::string problem;
    EXPECT_FALSE(reportedLayout(type, reported, problem)) << row.problem;
    EXPECT_EQ(problem, row.problem);
  }
}
