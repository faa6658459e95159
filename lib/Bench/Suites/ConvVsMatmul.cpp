//===- ConvVsMatmul.cpp - products as conv and as matmul ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A product with a constant as 1x1 convolution and as matmul, and as matmul
/// with a weight packed behind the input, as in programs that train.
///
//===----------------------------------------------------------------------===//

#include "lib/Bench/Suite.h"

using namespace anec;

static std::vector<SuiteRow> rowsOfConvVsMatmul(bool quick) {
  struct Size {
    int64_t outputs, inputs, positions;
  };
  static constexpr Size sizes[] = {
      {256, 256, 256},    {512, 512, 512},    {768, 768, 256},
      {2048, 768, 256},   {1024, 1024, 1024}, {2048, 2048, 2048},
      {4096, 4096, 4096},
  };
  std::vector<SuiteRow> rows;
  constexpr size_t quickCount = 3;
  for (const Size &size :
       llvm::ArrayRef(sizes).take_front(quick ? quickCount : std::size(sizes)))
    for (KernelForm form :
         {KernelForm::Matmul, KernelForm::PackedMatmul, KernelForm::Conv})
      rows.push_back({std::to_string(size.outputs) + "x" +
                          std::to_string(size.inputs) + " by " +
                          std::to_string(size.inputs) + "x" +
                          std::to_string(size.positions),
                      {{form, size.inputs, size.outputs, 1, size.positions}}});
  return rows;
}

constinit const Suite suites::ConvVsMatmul = {
    .name = "conv-vs-matmul",
    .summary = "one product as `matmul` and as 1x1 convolution",
    .warmup = 10,
    .iterations = 50,
    .column = SuiteColumn::Ratio,
    .rows = rowsOfConvVsMatmul,
};
