//===- Bench.h - times programs and packages --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_BENCH_BENCH_H
#define ANEC_LIB_BENCH_BENCH_H

#include "lib/Runtime/EntryRun.h"
#include "lib/Runtime/InputArrays.h"

namespace anec {

struct BenchOptions {
  unsigned iterations = 100; ///< timed runs, at least 1
  unsigned warmup = 10;      ///< runs before them
  bool json = false;
  /// Also prints the time of each step of a program, or part of an entry.
  bool profile = false;
};

/// Times runs of `function` on `backend` and prints median, minimum and 95th
/// percentile. Inputs and states are arguments NAME=SOURCE, see InputArrays.h;
/// other inputs are random.
[[nodiscard]] bool benchProgram(const Function &function, Backend &backend,
                                LoadOptions load,
                                llvm::ArrayRef<std::string> inputs,
                                llvm::ArrayRef<std::string> states,
                                const BenchOptions &options,
                                llvm::raw_ostream &out, Diagnostics &diags);

/// Times runs of an entry of `package`: the whole, its forward and backward
/// parts, and the host ops in both.
[[nodiscard]] bool benchEntry(ModelPackage package, Backend &backend,
                              const EntryOptions &entry,
                              const BenchOptions &options,
                              llvm::raw_ostream &out, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_BENCH_BENCH_H
