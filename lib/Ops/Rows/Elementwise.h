//===- Rows/Elementwise.h - the rows of Elementwise.cpp ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_ELEMENTWISE_H
#define ANEC_LIB_OPS_ROWS_ELEMENTWISE_H

#include "lib/Ops/Rows/Row.h"

namespace anec::ops {

ANEC_ROWS(elementwiseRows, Abs, Acos, Asin, Atan, Atanh, Ceil, Clip, Cos, Cosh,
          Erf, Exp, Exp2, Floor, Identity, Inverse, Log, Round, Rsqrt, Sign,
          Sin, Sinh, Sqrt, Square, StopGradient, Tan, Threshold)

} // namespace anec::ops

#endif // ANEC_LIB_OPS_ROWS_ELEMENTWISE_H
