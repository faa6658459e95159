//===- ProbeSetting.cpp - what the programs of a rule are given -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeSetting.h"

using namespace anec;

// Those that the defaults do not fit, by name.
static constexpr ProbeSetting settings[] = {
    // A mask that is ignored shows when it is large.
    {.rule = "attention-mask", .weightScale = 4},
    // What fp32 keeps and fp16 does not.
    {.rule = "fp32-inside", .relative = 5e-5},
    // The table is off by 0.0062, that of `tanh` by 0.0016.
    {.rule = "gelu-table", .low = -4, .high = 4, .absolute = 0.004},
    {.rule = "inverse-epsilon", .low = 0.25, .high = 4},
    {.rule = "io-bytes-128", .asDeclared = true},
    {.rule = "io-input-order", .asDeclared = true},
    {.rule = "io-minimum", .asDeclared = true},
    {.rule = "io-output-order", .asDeclared = true},
    {.rule = "io-row-64", .asDeclared = true},
    // One measurement, of programs that are 1.7 times apart in size.
    {.rule = "kernel-compile-time", .slowerFrom = 3, .ofCompiling = true},
    {.rule = "log-epsilon", .low = 0.25, .high = 4},
    // Ones, whose sum is past what fp16 counts to.
    {.rule = "narrow-sum", .low = 1, .high = 1, .absolute = 8},
    {.rule = "no-mod", .low = 1.1, .high = 8},
    {.rule = "no-trigonometry", .low = -1, .high = 1},
    // Sums under the root.
    {.rule = "root-of-reduction", .low = 0.25, .high = 4},
    {.rule = "round-range", .low = -2000, .high = 2000, .absolute = 0.4},
    {.rule = "rsqrt-epsilon", .low = 0.25, .high = 4},
    // `sigmoid` is off by 0.0034, `silu` by 0.015 and more.
    {.rule = "silu-table", .low = -8, .high = 8, .absolute = 0.01},
    // Older chips saturate at 4094.
    {.rule = "slice-last-axis", .low = -8000, .high = 8000},
    // Zeros, which what is added keeps from being divided by.
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
