//===- Rows/Recurrent.h - the rows of Recurrent.cpp -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_RECURRENT_H
#define ANEC_LIB_OPS_ROWS_RECURRENT_H

#include "lib/Ops/Rows/Row.h"

namespace anec::ops {

ANEC_ROWS(recurrentRows, Gru, Lstm, Rnn)

} // namespace anec::ops

#endif // ANEC_LIB_OPS_ROWS_RECURRENT_H
