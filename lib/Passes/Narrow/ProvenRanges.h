//===- ProvenRanges.h - what values can be, whatever the inputs -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_PROVENRANGES_H
#define ANEC_LIB_PASSES_NARROW_PROVENRANGES_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"
#include <cmath>
#include <limits>

namespace anec {

/// An interval that has every element of a value.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  double magnitude() const { return std::max(std::abs(least), std::abs(most)); }
};

class ProvenRanges {
public:
  /// Of every value of `function`, from its constants and ops.
  explicit ProvenRanges(const Function &function);
  Range of(const Value *value) const { return ranges.lookup(value); }

private:
  Range computed(const Op &op) const;
  llvm::DenseMap<const Value *, Range> ranges;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_PROVENRANGES_H
