//===- Rows/Reduce.h - the rows of Reduce.cpp -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_REDUCE_H
#define ANEC_LIB_OPS_ROWS_REDUCE_H

#include "lib/Ops/Rows/Row.h"

namespace anec::ops {

ANEC_ROWS(reduceRows, ReduceArgmax, ReduceArgmin, ReduceL1Norm, ReduceL2Norm,
          ReduceLogSum, ReduceLogSumExp, ReduceMax, ReduceMean, ReduceMin,
          ReduceProd, ReduceSum, ReduceSumSquare)

} // namespace anec::ops

#endif // ANEC_LIB_OPS_ROWS_REDUCE_H
