//===- Rows/Select.h - the rows of Select.cpp -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_SELECT_H
#define ANEC_LIB_OPS_ROWS_SELECT_H

#include "lib/Ops/Rows/Row.h"

namespace anec::ops {

ANEC_ROWS(selectRows, Equal, Greater, GreaterEqual, Less, LessEqual, LogicalAnd,
          LogicalNot, LogicalOr, LogicalXor, NotEqual, Select)

} // namespace anec::ops

#endif // ANEC_LIB_OPS_ROWS_SELECT_H
