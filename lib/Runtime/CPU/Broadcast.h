//===- Broadcast.h - rows of operands that broadcast ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_BROADCAST_H
#define ANEC_LIB_RUNTIME_CPU_BROADCAST_H

#include "anec/IR/Type.h"

namespace anec::cpu {

/// Where an operand has the elements of each row of a result [rows, columns],
/// whose columns are the last axis.
struct BroadcastRows {
  size_t columnStride = 0;       ///< 1, or 0 for one element for all columns
  std::vector<uint32_t> offsets; ///< of each row, in elements
};

/// The rows of an operand of `shape` that broadcasts to `result`.
inline BroadcastRows broadcastRows(llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<int64_t> result) {
  BroadcastRows source;
  size_t shift = result.size() - shape.size();
  Shape strides = rowMajorStrides(shape);
  Shape steps(result.size(), 0);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    steps[axis + shift] = shape[axis] == 1 ? 0 : strides[axis];
  source.columnStride = result.empty() ? 0 : size_t(steps.back());
  size_t rows = 1;
  for (size_t axis = 0; axis + 1 < result.size(); ++axis)
    rows *= size_t(result[axis]);
  Shape index(result.size(), 0);
  uint64_t offset = 0;
  for (size_t row = 0; row < rows; ++row) {
    source.offsets.push_back(uint32_t(offset));
    for (size_t axis = result.size() - 1; axis-- > 0;) {
      offset += uint64_t(steps[axis]);
      if (++index[axis] < result[axis])
        break;
      offset -= uint64_t(steps[axis] * result[axis]);
      index[axis] = 0;
    }
  }
  return source;
}

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_BROADCAST_H
