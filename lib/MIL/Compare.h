//===- Compare.h - differences between two programs -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Compares programs by what they compute. The names of values, the order of
/// independent ops, whether a constant is named, shared or written inline, and
/// the layout of weight files are ignored. The names and order of functions'
/// parameters and results are compared: callers use them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_COMPARE_H
#define ANEC_LIB_MIL_COMPARE_H

#include "anec/IR/IR.h"

namespace anec {

struct CompareOptions {
  /// Arrays of rank 1 and more that are operands or packed weights are compared
  /// only by type.
  bool ignoreWeights = false;
};

/// The distance between two arrays of one type.
struct ArrayDifference {
  int64_t elements = 0; ///< of each
  int64_t differing = 0;
  double absolute = 0; ///< the largest |left - right|
  double relative = 0; ///< the largest |left - right| / max(|left|, |right|)
};

struct Difference {
  enum Kind : uint8_t {
    FunctionMissing, ///< in one program
    Signature,       ///< an opset, a parameter or a result of a function
    OpMissing,       ///< in one program
    ResultType,      ///< of an op
    Argument,        ///< a constant or operand of an op
    Weights,         ///< the elements of an array
  };
  Kind kind;
  std::string function;
  /// The op in each program; null where it is missing or not applicable.
  const Op *left = nullptr;
  const Op *right = nullptr;
  /// The part of the function or op: `input 0`, `axis`.
  std::string part;
  /// The part in each program; empty where it is missing.
  std::string leftText, rightText;
  ArrayDifference values; ///< of Weights
};

/// All differences, by function, in the order of the left program's ops.
std::vector<Difference> compareModules(const Module &left, const Module &right,
                                       const CompareOptions &options = {});

} // namespace anec

#endif // ANEC_LIB_MIL_COMPARE_H
