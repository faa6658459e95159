//===- Reference.h - what reference kernels share ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reference kernels compute in real arithmetic (doubles): no rounding inside,
/// and none of the result, which the interpreter rounds where it is wanted.
/// They are written to be read: strides say which element meets which, and a
/// kernel is what happens to one element.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_REFERENCE_H
#define ANEC_LIB_OPS_REFERENCE_H

#include "anec/IR/OpDef.h"

namespace anec {

/// Calls `fn(at)` for every index of `shape` in row-major order, where at[n] is
/// the sum of index times strides[n]: the element of tensor n that meets there.
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

/// The strides of a row-major tensor of shape `from` while walking `to`, to
/// which it broadcasts: 0 where it repeats.
Shape broadcastStrides(llvm::ArrayRef<int64_t> from,
                       llvm::ArrayRef<int64_t> to);

/// The strides of the reduction of `shape` over `axes` while walking `shape`:
/// 0 along `axes`.
Shape reducedStrides(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> axes);

/// A shape seen from one axis: element (o, i, n) is at (o*extent + i)*inner +
/// n.
struct AxisView {
  int64_t outer = 1, extent = 1, inner = 1;
};
AxisView viewAxis(llvm::ArrayRef<int64_t> shape, int64_t axis);

/// Copies the elements that meet while walking `shape`.
void copyElements(llvm::ArrayRef<int64_t> shape, const double *in,
                  const Shape &inStrides, double *out, const Shape &outStrides);

/// Of an integer tensor, truncates every element toward zero and saturates it
/// to the element type's range (NaN becomes 0); leaves others as they are.
void settleIntegers(RefTensor &tensor);

/// out[m, n] += lhs[m, k] * rhs[k, n], all row-major.
void multiply(int64_t m, int64_t n, int64_t k, const double *lhs,
              const double *rhs, double *out);

/// in[rows, columns], transposed.
std::vector<double> transposed(const double *in, int64_t rows, int64_t columns);

/// Replaces `count` elements that lie `stride` apart by their softmax.
void softmaxInPlace(double *row, int64_t count, int64_t stride);

/// Operand `slot`, or null when it is absent.
inline const RefTensor *operandOrNull(const EvalContext &ctx, unsigned slot) {
  return slot < ctx.in.size() ? ctx.in[slot] : nullptr;
}

} // namespace anec

#endif // ANEC_LIB_OPS_REFERENCE_H
