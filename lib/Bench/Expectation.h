//===- Expectation.h - the right outputs of kernels -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The input of a kernel repeats after a few positions, and so does its output.
/// These positions, computed in double precision, give every element of the
/// output, however large the kernel is. The CPU backend computes them too, to
/// show the effect of only rounding to fp16.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_BENCH_EXPECTATION_H
#define ANEC_BENCH_EXPECTATION_H

#include "anec/Runtime/Backend.h"
#include "lib/Bench/SuiteKernel.h"

namespace anec {

/// The largest difference of an element, relative to the root mean square of
/// the right elements at its position. Infinite when an element is not finite.
struct CheckedErrors {
  double toReference = 0; ///< to double precision
  double toCpu = 0;       ///< to the CPU backend
};

/// The right outputs of kernels that run one after the other, each on the
/// output of the one before.
class Expectation {
public:
  /// Returns nothing, with the reason reported, when they cannot be computed.
  [[nodiscard]] static std::optional<Expectation>
  make(llvm::ArrayRef<SuiteKernel> kernels,
       std::shared_ptr<Workspace> workspace, Diagnostics &diags);

  /// The input, row-major [channels, positions], exact in fp16. The output of
  /// the negated input is the negated output.
  std::vector<float> input(bool negated) const;
  /// The errors of `output`, [channels, positions].
  CheckedErrors compare(llvm::ArrayRef<float> output, bool negated) const;

  /// The largest error of a right output.
  double tolerance() const { return allowed; }
  /// The error of the CPU backend.
  double cpuError() const { return errorOfCpu; }

private:
  int64_t inputs = 0, outputs = 0, positions = 0;
  std::vector<double> given, wanted, cpu; ///< [channels, period]
  double errorOfCpu = 0, allowed = 0;
};

} // namespace anec

#endif // ANEC_BENCH_EXPECTATION_H
