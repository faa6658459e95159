//===- Rows/Control.h - the rows of Control.cpp -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_CONTROL_H
#define ANEC_LIB_OPS_ROWS_CONTROL_H

#include "lib/Ops/Rows/Row.h"

namespace anec::ops {

ANEC_ROWS(controlRows, Cond, WhileLoop)

} // namespace anec::ops

#endif // ANEC_LIB_OPS_ROWS_CONTROL_H
