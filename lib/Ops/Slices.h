//===- Slices.h - the elements that a slice selects -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_SLICES_H
#define ANEC_LIB_OPS_SLICES_H

#include "anec/IR/IR.h"

namespace anec {

/// The elements of a row-major tensor that `slice_by_index` or `slice_update`
/// selects.
struct Selection {
  int64_t first = 0; ///< the position of the first
  Shape strides; ///< of the selection, without dropped axes; can be negative
};

/// The selection of slice_by_index along one axis.
struct SliceRange {
  int64_t first, step, count;
  bool dropped; ///< a single index, whose axis is removed
};

/// The parameters of slice_by_index, each with an element for each axis.
struct SliceBounds {
  Shape begin, end, stride, beginMask, endMask, squeezeMask;

  /// The selected range, by numpy's rules: negative positions count from the
  /// end, ranges are clamped to the axis, and a masked end is the end in the
  /// direction of the stride.
  SliceRange range(unsigned axis, int64_t extent) const;
};

/// The selection of `op`, whose bounds are constants, in a tensor of `shape`.
Selection selectElements(const Op &op, llvm::ArrayRef<int64_t> shape);

} // namespace anec

#endif // ANEC_LIB_OPS_SLICES_H
