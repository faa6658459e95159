//===- Int8.cpp - the gain of int8 ----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The chains of maderix/ANE's ane_int8_bench: in fp16, with weights unpacked
/// from int8, and with activations between convolutions rounded to int8, too.
///
//===----------------------------------------------------------------------===//

#include "lib/Bench/Suite.h"

using namespace anec;

static std::vector<SuiteRow> rowsOfInt8(bool quick) {
  struct Size {
    int64_t channels;
    unsigned depth;
  };
  static constexpr Size sizes[] = {
      {512, 128}, {512, 64}, {256, 256}, {256, 128}, {384, 128}};
  static constexpr Size quickSizes[] = {{256, 8}};
  std::vector<SuiteRow> rows;
  for (const Size &size :
       quick ? llvm::ArrayRef(quickSizes) : llvm::ArrayRef(sizes))
    for (KernelForm form :
         {KernelForm::Conv, KernelForm::Int8Weights, KernelForm::Int8})
      rows.push_back(
          {std::to_string(size.depth) + "x" + std::to_string(size.channels) +
               " 64x64",
           {{form, size.channels, size.channels, 64, 64, size.depth}}});
  return rows;
}

constinit const Suite suites::Int8 = {
    .name = "int8",
    .summary = "chains of 1x1 convolutions in fp16, with int8 weights, and "
               "with int8 between convolutions",
    .warmup = 10,
    .iterations = 50,
    .column = SuiteColumn::Ratio,
    .rows = rowsOfInt8,
};
