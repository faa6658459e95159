//===- AxisView.h - a tensor around the axes of an op -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_AXISVIEW_H
#define ANEC_LIB_RUNTIME_CPU_AXISVIEW_H

#include "anec/Support/Executor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <optional>

namespace anec::cpu {

/// A tensor as [outer, axis, inner]. With one inner element, the elements of an
/// axis are a row, which is contiguous; otherwise they are in columns side by
/// side, as for a norm over channels of [1, C, 1, S].
struct AxisView {
  size_t outer = 1, axis = 1, inner = 1;
};

/// Returns nothing when the axes are not adjacent (ignoring axes of one
/// element). Negative axes count from the end.
std::optional<AxisView> viewAxes(llvm::ArrayRef<int64_t> shape,
                                 llvm::ArrayRef<int64_t> axes);

/// Calls `rows(begin, end)` on parts of the outer extent, or for each outer
/// element `columns(outer, begin, end)` on parts of the inner one.
template <typename Rows, typename Columns>
void splitWork(Executor &pool, const AxisView &view, Rows rows,
               Columns columns) {
  // Fewer elements are not worth waking another thread.
  constexpr size_t grainElements = 8192;
  if (view.inner == 1) {
    size_t grain =
        std::max<size_t>(1, grainElements / std::max<size_t>(view.axis, 1));
    pool.parallelRanges(
        view.outer, grain,
        [&](size_t begin, size_t end, unsigned) { rows(begin, end); });
    return;
  }
  size_t elements = std::max<size_t>(view.axis * view.inner, 1);
  if (view.outer > 1 && elements < grainElements) {
    pool.parallelRanges(view.outer, grainElements / elements,
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t outer = begin; outer < end; ++outer)
                            columns(outer, 0, view.inner);
                        });
    return;
  }
  // Whole cache lines per part.
  size_t grain = std::max<size_t>(
      16, llvm::alignTo(grainElements / std::max<size_t>(view.axis, 1), 16));
  for (size_t outer = 0; outer < view.outer; ++outer)
    pool.parallelRanges(view.inner, grain,
                        [&](size_t begin, size_t end, unsigned) {
                          columns(outer, begin, end);
                        });
}

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_AXISVIEW_H
