//===- Report.h - statistics of a function ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Statistics of a program: its ops and their cost, the size of its weights,
/// and the peak size of its values. All of it is computed from the program;
/// nothing is measured.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_OPS_REPORT_H
#define ANEC_OPS_REPORT_H

#include "anec/IR/IR.h"

namespace anec {

/// How often one op occurs, and its operations.
struct OpCount {
  const OpDef *def;
  unsigned count = 0;
  int64_t flops = 0;
};

/// The weights of one declared element type.
struct WeightCount {
  DType dtype;
  unsigned arrays = 0;
  int64_t elements = 0;
  uint64_t bytes = 0;
};

/// The statistics of one function.
struct FunctionReport {
  unsigned ops = 0;  ///< except constants
  int64_t flops = 0; ///< a multiply-add counts as two
  /// Sorted by count, highest first.
  std::vector<OpCount> histogram;

  /// Elements of all weights: of `const` and `weight` ops, and of constant
  /// arguments that are data (packed weights, the matrices of an lstm).
  /// Constants that configure an op (`axis`, `perm`) do not count. An array
  /// that several ops share counts once.
  int64_t parameters = 0;
  uint64_t weightBytes = 0;
  /// Per element type, in the order of DType.
  std::vector<WeightCount> weights;

  uint64_t inputBytes = 0;
  uint64_t outputBytes = 0;
  uint64_t stateBytes = 0;
  /// The most bytes of values that are live at once, when ops run in program
  /// order. A value is live from the op that computes it to its last use, an
  /// input from the start, an output to the end. Weights, values unpacked from
  /// them, and states do not count.
  uint64_t activationPeak = 0;
  /// The first op that reaches the peak; null when there are no ops.
  const Op *peakOp = nullptr;
};

/// Counts the ops, weights and values of `function`.
FunctionReport makeReport(const Function &function);

} // namespace anec

#endif // ANEC_OPS_REPORT_H
