//===- Reference.h - shared code of reference kernels -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reference kernels compute in doubles and do not round, not even results: the
/// interpreter rounds these when asked to. They are written for readability:
/// strides determine which elements are combined, and a kernel defines the
/// operation on one element.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_REFERENCE_H
#define ANEC_LIB_OPS_REFERENCE_H

#include "lib/IR/OpDef.h"
#include <cmath>

namespace anec {

/// Calls `fn(at)` for every index of `shape` in row-major order. at[n] is the
/// sum of index times strides[n]: the position in tensor n.
template <size_t N, typename Fn>
void forEachElement(llvm::ArrayRef<int64_t> shape,
                    const std::array<Shape, N> &strides, Fn fn) {
  if (llvm::is_contained(shape, 0))
    return;
  int last = int(shape.size()) - 1;
  int64_t length = last < 0 ? 1 : shape[last];
  Shape index(shape.size(), 0);
  std::array<int64_t, N> row = {};
  while (true) {
    std::array<int64_t, N> at = row;
    for (int64_t i = 0; i < length; ++i) {
      fn(at);
      for (size_t n = 0; n < N; ++n)
        at[n] += last < 0 ? 0 : strides[n][last];
    }
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      for (size_t n = 0; n < N; ++n)
        row[n] += strides[n][axis];
      if (++index[axis] < shape[axis])
        break;
      for (size_t n = 0; n < N; ++n)
        row[n] -= strides[n][axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0)
      return;
  }
}

/// The strides for reading a row-major tensor of shape `from` at indices of
/// `to`, to which it broadcasts: 0 along repeated axes.
Shape broadcastStrides(llvm::ArrayRef<int64_t> from,
                       llvm::ArrayRef<int64_t> to);

/// The strides for accessing the reduction of `shape` over `axes` at indices of
/// `shape`: 0 along `axes`.
Shape reducedStrides(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> axes);

/// A shape as [outer, extent, inner] around one axis: element (o, i, n) is at
/// (o*extent + i)*inner + n.
struct AxisView {
  int64_t outer = 1, extent = 1, inner = 1;
};
AxisView viewAxis(llvm::ArrayRef<int64_t> shape, int64_t axis);

/// Copies from `in` to `out` at every index of `shape`.
void copyElements(llvm::ArrayRef<int64_t> shape, const double *in,
                  const Shape &inStrides, double *out, const Shape &outStrides);

/// For an integer tensor, truncates every element toward zero and saturates it
/// to the range of the element type (NaN becomes 0). Leaves other tensors
/// unchanged.
void settleIntegers(RefTensor &tensor);

/// out[m, n] += lhs[m, k] * rhs[k, n], all row-major.
void multiply(int64_t m, int64_t n, int64_t k, const double *lhs,
              const double *rhs, double *out);

/// The transpose of in[rows, columns], both row-major.
std::vector<double> transposed(const double *in, int64_t rows, int64_t columns);

/// Replaces `count` elements that lie `stride` apart by their softmax.
void softmaxInPlace(double *row, int64_t count, int64_t stride);

/// The larger and the smaller of two numbers: NaN if one is NaN, and the first
/// of equal ones. As numpy and PyTorch have them, unlike std::fmax.
inline double larger(double x, double y) {
  return x < y || std::isnan(y) ? y : x;
}
inline double smaller(double x, double y) {
  return y < x || std::isnan(y) ? y : x;
}

/// Operand `slot`, or null when it is absent.
inline const RefTensor *operandOrNull(const EvalContext &ctx, unsigned slot) {
  return slot < ctx.in.size() ? ctx.in[slot] : nullptr;
}

} // namespace anec

#endif // ANEC_LIB_OPS_REFERENCE_H
