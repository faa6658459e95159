//===- ProbeSetting.cpp - settings of the programs of rules ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeSetting.h"

using namespace anec;

// Settings of rules that the defaults do not fit, sorted by name.
static constexpr ProbeSetting settings[] = {
    // With large values, an ignored mask changes the outputs.
    {.rule = "attention-mask", .weightScale = 4},
    // An error that fp16 has and fp32 does not.
    {.rule = "fp32-inside", .relative = 5e-5},
    // The table has an error of 0.0062, that of `tanh` 0.0016.
    {.rule = "gelu-table", .low = -4, .high = 4, .absolute = 0.004},
    {.rule = "inverse-epsilon", .low = 0.25, .high = 4},
    {.rule = "io-bytes-128", .asDeclared = true},
    {.rule = "io-input-order", .asDeclared = true},
    {.rule = "io-minimum", .asDeclared = true},
    {.rule = "io-output-order", .asDeclared = true},
    {.rule = "io-row-64", .asDeclared = true},
    // Based on one measurement, of programs whose sizes differ by a factor of
    // 1.7.
    {.rule = "kernel-compile-time", .slowerFrom = 3, .ofCompiling = true},
    {.rule = "log-epsilon", .low = 0.25, .high = 4},
    {.rule = "log-sum-exp-range", .low = 4, .high = 12},
    // Ones, whose sum is larger than fp16 can count to.
    {.rule = "narrow-sum", .low = 1, .high = 1, .absolute = 8},
    {.rule = "no-mod", .low = 1.1, .high = 8},
    {.rule = "no-trigonometry", .low = -1, .high = 1},
    // Positive sums under the root.
    {.rule = "root-of-reduction", .low = 0.25, .high = 4},
    {.rule = "round-range", .low = -2000, .high = 2000, .absolute = 0.4},
    {.rule = "rsqrt-epsilon", .low = 0.25, .high = 4},
    // `sigmoid` has an error of 0.0034, `silu` of 0.015 and more.
    {.rule = "silu-table", .low = -8, .high = 8, .absolute = 0.01},
    // Older chips saturate at 4094.
    {.rule = "slice-last-axis", .low = -8000, .high = 8000},
    // Zeros: only the added number prevents a division by zero.
    {.rule = "small-addend", .low = 0, .high = 0},
    {.rule = "small-epsilon", .low = 0, .high = 0},
    {.rule = "softplus-range", .low = -4, .high = 40},
};

ProbeSetting anec::probeSetting(llvm::StringRef rule) {
  for (const ProbeSetting &setting : settings)
    if (setting.rule == rule)
      return setting;
  return {};
}
