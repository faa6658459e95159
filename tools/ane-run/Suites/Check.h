//===- Check.h - whether a kernel gave what it has to ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What goes into a kernel repeats after a few positions, and so does what
/// comes out. Those few, computed in double precision, tell what every element
/// has to be, however large the kernel is. The CPU backend computes them too,
/// to see what rounding to fp16 alone does.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SUITES_CHECK_H
#define ANEC_TOOLS_ANE_RUN_SUITES_CHECK_H

#include "Kernel.h"
#include "anec/Runtime/Backend.h"

namespace anec {

/// How far from each other values are: the largest difference of an element,
/// relative to the root mean square of what is right at its position. Infinite
/// when something is no number.
struct CheckedErrors {
  double toReference = 0; ///< to double precision
  double toCpu = 0;       ///< to the CPU backend
};

/// What kernels have to give that run one after the other, each on what the one
/// before gave.
class Expectation {
public:
  /// Nothing, with the reason reported, when the CPU backend cannot tell.
  static std::optional<Expectation> make(llvm::ArrayRef<Kernel> kernels,
                                         Diagnostics &diags);

  /// What goes in, row-major [channels, positions], exact in fp16; negated
  /// where asked for, for a run that gives the opposite.
  std::vector<float> input(bool negated) const;
  /// How far `output`, [channels, positions], is from what has to come out.
  CheckedErrors compare(llvm::ArrayRef<float> output, bool negated) const;

  /// The errors that a right result may have.
  double tolerance() const { return allowed; }
  /// Of the CPU backend.
  double cpuError() const { return errorOfCpu; }

private:
  int64_t inputs = 0, outputs = 0, positions = 0;
  std::vector<double> given, wanted, cpu; ///< [channels, period]
  double errorOfCpu = 0, allowed = 0;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SUITES_CHECK_H
