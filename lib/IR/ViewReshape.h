//===- ViewReshape.h - steps around a reshape ------------------ *- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A reshape makes axes of each other in groups: the smallest runs of axes with
/// as many elements before as after. A step that keeps to these groups can as
/// well be done before the reshape.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_VIEWRESHAPE_H
#define ANEC_LIB_IR_VIEWRESHAPE_H

#include "anec/IR/ArrayView.h"

namespace anec::view {

/// What does before a reshape from `from` to `to` what `step` does after it, up
/// to another reshape; nothing when no single step does.
std::optional<ViewStep> beforeReshape(const ViewStep &step,
                                      llvm::ArrayRef<int64_t> from,
                                      llvm::ArrayRef<int64_t> to);

/// The first element of those that `slice` takes of `axes` of an array of
/// `shape`, and their count; nothing when they do not follow each other.
std::optional<std::pair<int64_t, int64_t>>
flatRange(const ViewStep &slice, llvm::ArrayRef<int64_t> shape,
          llvm::ArrayRef<size_t> axes);

/// `to` with the axes joined that `permutation` keeps next to each other, and
/// without those of one element; and the permutation of what is left.
std::pair<Shape, Shape> joinAxes(const ViewStep &permutation,
                                 llvm::ArrayRef<int64_t> to);

/// The axes of a reshape from `from` to `to` split until both sides are made of
/// them, for each axis of `from` and of `to` how many; nothing when an axis
/// would have to be split in two ways.
struct SplitAxes {
  llvm::SmallVector<Shape, 4> from, to;
};
std::optional<SplitAxes> splitAxes(llvm::ArrayRef<int64_t> from,
                                   llvm::ArrayRef<int64_t> to);

} // namespace anec::view

#endif // ANEC_LIB_IR_VIEWRESHAPE_H
