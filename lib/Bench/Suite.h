//===- Suite.h - benchmarks that others have published ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A suite is data: the kernels that it times, how often, and the column that
/// its report ends with. Each has a file of its own; docs/use/bench.md
/// describes them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_BENCH_SUITE_H
#define ANEC_LIB_BENCH_SUITE_H

#include "lib/Bench/SuiteKernel.h"

namespace anec {

/// Kernels that are timed together: they run one after the other, each on the
/// output of the one before.
struct SuiteRow {
  /// `128x512 sp64`; rows of equal labels compute the same in several forms.
  std::string label;
  std::vector<SuiteKernel> kernels;

  KernelForm form() const { return kernels.front().form; }
  int64_t flops() const;
  uint64_t weightBytes() const;
  /// `peak-128x512-sp64-conv`: for files, and for --row.
  std::string name(llvm::StringRef suite) const;
};

/// The last column of a suite's report.
enum class SuiteColumn : uint8_t {
  Percent,     ///< of the chip's peak
  PerMegabyte, ///< GFLOP/s for each MB of weights
  PerKernel,   ///< milliseconds of each kernel
  Ratio,       ///< how much faster than the label's first row
};

struct Suite {
  llvm::StringLiteral name, summary;
  unsigned warmup, iterations; ///< by default
  SuiteColumn column;
  /// Rows of the published sizes; with `quick`, a few small ones.
  std::vector<SuiteRow> (*rows)(bool quick);
};
namespace suites {
extern const Suite Peak, Sram, Dispatch, ConvVsMatmul, Int8;
} // namespace suites
/// All suites, in the order of the documentation.
llvm::ArrayRef<const Suite *> allSuites();

/// A figure that somebody published for a row.
struct PublishedFigure {
  llvm::StringLiteral suite, label;
  KernelForm form;
  llvm::StringLiteral chip;
  /// Of one run of all kernels of the row; 0 when it is not known.
  double milliseconds;
  double teraflops; ///< 0 when it is not known
  llvm::StringLiteral source;
  /// The methods of the framework, as `--path` has them.
  llvm::StringLiteral path = "in-memory";
};
std::vector<const PublishedFigure *> publishedFor(const Suite &suite,
                                                  const SuiteRow &row);

} // namespace anec

#endif // ANEC_LIB_BENCH_SUITE_H
