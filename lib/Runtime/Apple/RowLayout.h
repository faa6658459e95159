//===- RowLayout.h - where rows of an array lie ------------------*- C++ -*===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_ROWLAYOUT_H
#define ANEC_LIB_RUNTIME_APPLE_ROWLAYOUT_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"

namespace anec::apple {

/// Rows (along the last axis) of an input or output in memory. Planes have
/// `planeRows` each, and batches `batchPlanes` planes.
struct RowLayout {
  uint64_t rows = 1, columns = 1;
  uint64_t elementBytes = 2;
  uint64_t planeRows = 1, batchPlanes = 1;
  uint64_t stride = 64, planeStride = 64, batchStride = 64;
  uint64_t bytes = 0; ///< of all of them

  uint64_t rowBytes() const { return columns * elementBytes; }
  uint64_t offsetOf(uint64_t row) const {
    uint64_t plane = row / planeRows;
    return plane / batchPlanes * batchStride +
           plane % batchPlanes * planeStride + row % planeRows * stride;
  }
  /// Whether no bytes are between rows.
  bool isDense() const {
    return stride == rowBytes() && planeStride == planeRows * stride &&
           batchStride == batchPlanes * planeStride;
  }
};

/// Rows that begin at multiples of `rowAlignment` bytes, all in one plane.
RowLayout evenRows(const TensorType &type, uint64_t rowAlignment);
/// Contiguous rows.
inline RowLayout denseLayout(const TensorType &type) {
  return evenRows(type, /*rowAlignment=*/1);
}

/// Calls `visit` for each row of `region` of an array of `type` with its place
/// in memory, its offset among the region's elements, and its length.
/// Contiguous rows are joined.
template <typename Visit>
void forEachRow(const TensorType &type, const RowLayout &layout,
                const Region &region, Visit visit) {
  Region rows = region;
  // A vector is a column of its matrix, and a row of its memory.
  if (type.shape.size() < 2)
    rows = {0, region.channel, 1, region.channels};
  bool whole = layout.isDense() && uint64_t(rows.columns) == layout.columns;
  int64_t step = whole ? std::max<int64_t>(rows.channels, 1) : 1;
  for (int64_t row = 0; row < rows.channels; row += step)
    visit(layout.offsetOf(uint64_t(rows.channel + row)) +
              uint64_t(rows.column) * layout.elementBytes,
          size_t(row * rows.columns), size_t(step * rows.columns));
}

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_ROWLAYOUT_H
