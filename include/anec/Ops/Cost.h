//===- Cost.h - operations and bytes of a function -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_OPS_COST_H
#define ANEC_OPS_COST_H

#include "anec/IR/IR.h"

namespace anec {

/// What follows from shapes alone.
struct Cost {
  unsigned ops = 0;         ///< without constants
  int64_t flops = 0;        ///< a multiply-add counts twice
  uint64_t weightBytes = 0; ///< constants, as declared
  uint64_t inputBytes = 0;
  uint64_t outputBytes = 0;
};

Cost countCost(const Function &function);
/// Floating-point operations of one op, by its row.
int64_t countFlops(const Op &op);

} // namespace anec

#endif // ANEC_OPS_COST_H
