//===- Peak.cpp - long chains of convolutions -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The grid of maderix/ANE's inmem_peak. Its weight files have no data offsets,
/// so all its convolutions may have read the same bytes. `OneWeight` does so on
/// purpose; in the other forms, each convolution reads its own weight.
///
//===----------------------------------------------------------------------===//

#include "lib/Bench/Suite.h"

using namespace anec;

static std::vector<SuiteRow> rowsOfPeak(bool quick) {
  struct Size {
    int64_t channels, positions;
    unsigned depth;
  };
  static constexpr Size sizes[] = {
      {512, 64, 32},  {512, 64, 48},  {512, 64, 64},   {512, 64, 96},
      {512, 64, 128}, {256, 64, 64},  {256, 64, 128},  {256, 64, 256},
      {384, 64, 64},  {384, 64, 128}, {512, 2048, 128}};
  static constexpr Size quickSizes[] = {{512, 64, 32}, {256, 64, 64}};
  std::vector<SuiteRow> rows;
  for (const Size &size :
       quick ? llvm::ArrayRef(quickSizes) : llvm::ArrayRef(sizes))
    for (KernelForm form :
         {KernelForm::ConvFp32, KernelForm::OneWeight, KernelForm::Conv}) {
      std::string label = std::to_string(size.depth) + "x" +
                          std::to_string(size.channels) + " sp" +
                          std::to_string(size.positions);
      SuiteKernel kernel{form, size.channels,  size.channels,
                         1,    size.positions, size.depth};
      rows.push_back({std::move(label), {kernel}});
    }
  return rows;
}

constinit const Suite suites::Peak = {
    .name = "peak",
    .summary = "chains of 1x1 convolutions: the peak rate of multiplication",
    .warmup = 10,
    .iterations = 50,
    .column = SuiteColumn::Percent,
    .rows = rowsOfPeak,
};
