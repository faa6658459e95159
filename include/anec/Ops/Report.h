//===- Report.h - what a function is made of -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The numbers for people who look at a program: which ops it has and what they
/// cost, what its weights take, and how much its values need at once. All of it
/// follows from the text; nothing is measured.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_OPS_REPORT_H
#define ANEC_OPS_REPORT_H

#include "anec/IR/IR.h"

namespace anec {

/// The ops of one row of the table.
struct OpCount {
  const OpDef *def;
  unsigned count = 0;
  int64_t flops = 0;
};

/// The weights of one element type, as they are declared.
struct WeightCount {
  DType dtype;
  unsigned arrays = 0;
  int64_t elements = 0;
  uint64_t bytes = 0;
};

struct FunctionReport {
  unsigned ops = 0;  ///< without constants
  int64_t flops = 0; ///< a multiply-add counts twice
  /// The most frequent first.
  std::vector<OpCount> histogram;

  /// Elements of all weights: of `const` and `weight` ops, and of the arrays
  /// that are constant arguments (packed weights, an lstm's matrices). What
  /// says how an op works (`axis`, `perm`) is none. An array that several ops
  /// share counts once.
  int64_t parameters = 0;
  uint64_t weightBytes = 0;
  /// By element type, in the order of DType.
  std::vector<WeightCount> weights;

  uint64_t inputBytes = 0;
  uint64_t outputBytes = 0;
  uint64_t stateBytes = 0;
  /// The most bytes that values take at once, when each op is done in its
  /// place. A value counts from the op that computes it to the last that uses
  /// it, an input from the beginning, an output to the end; weights and what is
  /// unpacked from them do not count, nor do states.
  uint64_t activationPeak = 0;
  /// The first op during which it is reached; null when there is none.
  const Op *peakOp = nullptr;
};

FunctionReport makeReport(const Function &function);

} // namespace anec

#endif // ANEC_OPS_REPORT_H
