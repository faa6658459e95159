//===- Rows/Constexpr.h - the rows of Constexpr.cpp -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_CONSTEXPR_H
#define ANEC_LIB_OPS_ROWS_CONSTEXPR_H

#include "lib/Ops/Rows/Row.h"

namespace anec::ops {

ANEC_ROWS(constexprRows, ConstexprAffineDequantize,
          ConstexprBlockwiseShiftScale, ConstexprCast,
          ConstexprSparseBlockwiseShiftScale, ConstexprSparseToDense)

} // namespace anec::ops

#endif // ANEC_LIB_OPS_ROWS_CONSTEXPR_H
