//===- Rows/Memory.h - the rows of Memory.cpp -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_MEMORY_H
#define ANEC_LIB_OPS_ROWS_MEMORY_H

#include "lib/Ops/Rows/Row.h"

namespace anec::ops {

ANEC_ROWS(memoryRows, ReadState, TensorBufferToTensor, TensorToTensorBuffer,
          WriteState)

} // namespace anec::ops

#endif // ANEC_LIB_OPS_ROWS_MEMORY_H
