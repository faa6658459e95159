//===- Sram.cpp - one convolution of growing weights ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The sizes of maderix/ANE's sram_bench and sram_probe: when a weight no
/// longer fits into the engine's memory on the chip, the rate of operations
/// drops.
///
//===----------------------------------------------------------------------===//

#include "lib/Bench/Suite.h"

using namespace anec;

static std::vector<SuiteRow> rowsOfSram(bool quick) {
  std::vector<SuiteRow> rows;
  constexpr int64_t quickLimit = 2048;
  for (int64_t channels : {256, 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096,
                           4608, 5120, 6144, 8192}) {
    if (quick && channels > quickLimit)
      break;
    rows.push_back({std::to_string(channels) + "ch sp64",
                    {{KernelForm::Conv, channels, channels, 1, 64}}});
  }
  return rows;
}

constinit const Suite suites::Sram = {
    .name = "sram",
    .summary = "one 1x1 convolution with increasing channels: where weights no "
               "longer fit on the chip",
    .warmup = 5,
    .iterations = 50,
    .column = SuiteColumn::PerMegabyte,
    .rows = rowsOfSram,
};
