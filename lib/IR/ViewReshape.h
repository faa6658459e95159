//===- ViewReshape.h - moves steps before a reshape -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A reshape maps groups of axes to each other: the smallest runs of axes with
/// the same number of elements before and after. A step that acts on whole
/// groups can be moved before the reshape.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_VIEWRESHAPE_H
#define ANEC_LIB_IR_VIEWRESHAPE_H

#include "anec/IR/ArrayView.h"

namespace anec::view {

/// The step before a reshape from `from` to `to` that is equivalent to `step`
/// after it, up to another reshape; nothing when no single step is.
std::optional<ViewStep> beforeReshape(const ViewStep &step,
                                      llvm::ArrayRef<int64_t> from,
                                      llvm::ArrayRef<int64_t> to);

/// The first element that `slice` selects from `axes` of an array of `shape`,
/// and their count; nothing when they are not contiguous.
std::optional<std::pair<int64_t, int64_t>>
flatRange(const ViewStep &slice, llvm::ArrayRef<int64_t> shape,
          llvm::ArrayRef<size_t> axes);

/// `to` with the axes merged that `permutation` keeps adjacent, and without
/// axes of extent 1; and the permutation of the remaining axes.
std::pair<Shape, Shape> joinAxes(const ViewStep &permutation,
                                 llvm::ArrayRef<int64_t> to);

/// Splits the axes of a reshape from `from` to `to` into common parts: the
/// extents of the parts of each axis of `from` and of `to`. Returns nothing
/// when an axis would have to be split in two ways.
struct SplitAxes {
  llvm::SmallVector<Shape, 4> from, to;
};
std::optional<SplitAxes> splitAxes(llvm::ArrayRef<int64_t> from,
                                   llvm::ArrayRef<int64_t> to);

} // namespace anec::view

#endif // ANEC_LIB_IR_VIEWRESHAPE_H
