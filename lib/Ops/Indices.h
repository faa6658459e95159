//===- Indices.h - shared code of lookups and scatters ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_INDICES_H
#define ANEC_LIB_OPS_INDICES_H

#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"

namespace anec {

inline constexpr DTypeSet indexTypes = {DType::Int8, DType::Int16, DType::Int32,
                                        DType::UInt8, DType::UInt16};

/// Index `i` of an axis of `extent` elements: negative ones count from the end,
/// and out-of-range ones become the nearest element.
inline int64_t resolveIndex(double i, int64_t extent) {
  return std::clamp<int64_t>(normalized(int64_t(i), extent), 0, extent - 1);
}

/// Whether `axis` is an axis of operand 0, and operand 1 has the same shape
/// except at that axis.
bool checkAlongAxis(InferContext &ctx);

/// Calls `fn(i, at)` for each element i of operand 1. `at` is the element of
/// operand 0 at the same position, except that its index along `axis` is the
/// value of element i.
template <typename Fn>
void forEachAlongAxis(const EvalContext &ctx, Fn fn) {
  const RefTensor &data = *ctx.in[0], &indices = *ctx.in[1];
  int64_t axis = normalized(ctx.get(param::axis), data.type.rank());
  AxisView view = viewAxis(data.type.shape, axis);
  int64_t count = indices.type.shape[axis];
  for (size_t i = 0; i < indices.data.size(); ++i) {
    int64_t o = int64_t(i) / view.inner / count, n = int64_t(i) % view.inner;
    int64_t index = resolveIndex(indices.data[i], view.extent);
    fn(int64_t(i), (o * view.extent + index) * view.inner + n);
  }
}

/// Whether the rows of operand 1 (its last axis) index at most the axes that
/// operand 0 has after the first `batchDims`.
bool checkIndexDepth(InferContext &ctx, int64_t batchDims);

/// Calls `fn(at, count)` for each row of `indices`: `count` elements from `at`
/// on are the slice that the row selects in a tensor of `shape`. The first
/// `batchDims` axes of both are batch axes.
template <typename Fn>
void forEachIndexed(const RefTensor &indices, llvm::ArrayRef<int64_t> shape,
                    int64_t batchDims, Fn fn) {
  int64_t depth = indices.type.shape.back();
  Shape strides = rowMajorStrides(shape);
  int64_t batch = 1;
  for (int64_t extent : shape.take_front(batchDims))
    batch *= extent;
  int64_t batchSize = 1, count = 1;
  for (int64_t extent : shape.drop_front(batchDims))
    batchSize *= extent;
  for (int64_t extent : shape.drop_front(batchDims + depth))
    count *= extent;
  int64_t rows = int64_t(indices.data.size()) / depth;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t at = row / (rows / batch) * batchSize;
    for (int64_t d = 0; d < depth; ++d)
      at += resolveIndex(indices.data[row * depth + d], shape[batchDims + d]) *
            strides[batchDims + d];
    fn(at, count);
  }
}

} // namespace anec

#endif // ANEC_LIB_OPS_INDICES_H
