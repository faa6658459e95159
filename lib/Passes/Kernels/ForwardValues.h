//===- ForwardValues.h - forward values in a backward -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Numbers the values of a forward and a backward body so that equal values,
/// computed by equal ops from equal values, have equal numbers. This finds the
/// forward value that equals one recomputed in the backward.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_FORWARDVALUES_H
#define ANEC_LIB_PASSES_FORWARDVALUES_H

#include "RepeatInterface.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <vector>

namespace anec {

class ForwardValues {
public:
  /// Numbers a function that contains both, without repeats in between.
  explicit ForwardValues(const Function &both);
  /// Numbers the bodies of a pair of repeats.
  ForwardValues(const RepeatPair &pair, const Function &forward,
                const Function &backward);

  /// The forward value that equals `backwardValue`; null when there is none. In
  /// a single function, the first of equal values.
  Value *find(const Value *backwardValue) const;

private:
  using Number = unsigned;
  Number fresh() { return next++; }
  Number numberOf(const Op &op, unsigned result);
  void numberOps(const Function &function, bool isForward);
  void numberParameters(const Op &repeat, const Function &body);
  void set(const Value *value, Number number, bool isForward);

  Number next = 0;
  llvm::DenseMap<const Value *, Number> numbers;
  llvm::DenseMap<Number, Value *> forwardValues;
  /// Values outside of the repeats, which both bodies can get as operands.
  llvm::DenseMap<const Value *, Number> outer;
  struct Expression {
    std::vector<ConstantRef> constants;
    Number number;
  };
  std::map<std::vector<uint64_t>, std::vector<Expression>> expressions;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_FORWARDVALUES_H
