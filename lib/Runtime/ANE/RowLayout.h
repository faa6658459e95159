//===- RowLayout.h - the memory layout of an input or output ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_ROWLAYOUT_H
#define ANEC_LIB_RUNTIME_ANE_ROWLAYOUT_H

#include "anec/Runtime/Backend.h"

namespace anec::ane {

/// Rows (along the last axis) that begin `stride` bytes apart.
struct RowLayout {
  uint64_t rows = 1, columns = 1;
  uint64_t elementBytes = 2;
  uint64_t stride = 64;
  uint64_t bytes = 0; ///< of the memory

  uint64_t rowBytes() const { return columns * elementBytes; }
  bool isDense() const { return stride == rowBytes(); }
};

/// The engine's layout of an input or output of `type`: rows at multiples of 64
/// bytes, or at multiples of `stride` if the engine reports it.
RowLayout rowLayout(const TensorType &type, uint64_t stride = 0);
/// Contiguous rows.
RowLayout denseLayout(const TensorType &type);

/// Calls `visit` for each row of `region` with its place in the memory, its
/// offset among the region's elements, and its length. Contiguous rows are
/// joined.
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
    visit(uint64_t(rows.channel + row) * layout.stride +
              uint64_t(rows.column) * layout.elementBytes,
          size_t(row * rows.columns), size_t(step * rows.columns));
}

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_ROWLAYOUT_H
