//===- Layout.h - where the engine has rows ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_LAYOUT_H
#define ANEC_LIB_RUNTIME_ANE_LAYOUT_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"

namespace anec::ane {

/// An input or output as the attributes of a loaded program describe it;
/// numbers are 0 and `type` is empty where they do not. An element is at
/// n * batchStride + (c * depth + d) * planeStride + h * rowStride + w * size,
/// in bytes.
struct ReportedLayout {
  uint64_t batches = 0, channels = 0, depth = 0, height = 0, width = 0;
  uint64_t rowStride = 0, planeStride = 0, batchStride = 0;
  uint64_t interleave = 0;
  std::string type; ///< `Float16`

  uint64_t rows() const;
  /// The bytes that a surface needs: max(BatchStride * N, PlaneStride * C * D *
  /// N), as pmetal computes them; 0 when not known.
  uint64_t bytes() const;
};

/// Rows (along the last axis) of an input or output in its surface. Planes have
/// `planeRows` each, and batches `batchPlanes` planes.
struct RowLayout {
  uint64_t rows = 1, columns = 1;
  uint64_t elementBytes = 2;
  uint64_t planeRows = 1, batchPlanes = 1;
  uint64_t stride = 64, planeStride = 64, batchStride = 64;
  uint64_t bytes = 0; ///< of the surface

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

/// The layout of an input or output of `type` where the engine reports none:
/// rows at multiples of 64 bytes.
RowLayout paddedLayout(const TensorType &type);
/// Contiguous rows.
RowLayout denseLayout(const TensorType &type);
/// The layout that the engine reports. Returns nothing, with the reason in
/// `problem`, when it is not one of `type`, or its rows cannot be found.
std::optional<RowLayout> reportedLayout(const TensorType &type,
                                        const ReportedLayout &reported,
                                        std::string &problem);

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

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_LAYOUT_H
