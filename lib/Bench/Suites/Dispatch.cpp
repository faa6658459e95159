//===- Dispatch.cpp - the cost of running a kernel ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Kernels that compute almost nothing, one of the size of a small
/// transformer's layer, and twelve of those in sequence, each on the output of
/// the one before, copied by the host.
///
//===----------------------------------------------------------------------===//

#include "lib/Bench/Suite.h"

using namespace anec;

static std::vector<SuiteRow> rowsOfDispatch(bool) {
  auto kernel = [](int64_t channels, int64_t positions, uint64_t seed = 1) {
    return SuiteKernel{KernelForm::Conv, channels, channels, 1,
                       positions,        1,        seed};
  };
  std::vector<SuiteRow> rows = {{"64x32", {kernel(64, 32)}},
                                {"256x64", {kernel(256, 64)}},
                                {"768x256", {kernel(768, 256)}}};
  SuiteRow &chain = rows.emplace_back();
  chain.label = "12 times 768x256";
  for (uint64_t seed = 1; seed <= 12; ++seed)
    chain.kernels.push_back(kernel(768, 256, seed));
  return rows;
}

constinit const Suite suites::Dispatch = {
    .name = "dispatch",
    .summary = "small kernels, and twelve in a row: the fixed cost of running "
               "a kernel",
    .warmup = 10,
    .iterations = 500,
    .column = SuiteColumn::PerKernel,
    .rows = rowsOfDispatch,
};
