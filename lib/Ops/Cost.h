//===- Cost.h - operations and bytes of a function --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_COST_H
#define ANEC_LIB_OPS_COST_H

#include "anec/IR/IR.h"

namespace anec {

/// The cost of a function, computed only from shapes.
struct Cost {
  unsigned ops = 0;         ///< except constants
  int64_t flops = 0;        ///< a multiply-add counts as two
  uint64_t weightBytes = 0; ///< constants, in their declared types
  uint64_t inputBytes = 0;
  uint64_t outputBytes = 0;
};

Cost countCost(const Function &function);
/// Floating-point operations of one op, as its row defines them; otherwise one
/// per result element of an elementwise op, and 0 for other ops.
int64_t countFlops(const Op &op);

} // namespace anec

#endif // ANEC_LIB_OPS_COST_H
