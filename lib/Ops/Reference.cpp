//===- Reference.cpp - shared code of reference kernels ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// See Reference.h.
///
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include <cmath>

using namespace anec;

Shape anec::broadcastStrides(llvm::ArrayRef<int64_t> from,
                             llvm::ArrayRef<int64_t> to) {
  Shape strides(to.size() - from.size(), 0);
  strides.append(rowMajorStrides(from));
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (from[axis] == 1)
      strides[to.size() - from.size() + axis] = 0;
  return strides;
}

Shape anec::reducedStrides(llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<int64_t> axes) {
  Shape kept(shape.begin(), shape.end());
  for (int64_t axis : axes)
    kept[axis] = 1;
  Shape strides = rowMajorStrides(kept);
  for (int64_t axis : axes)
    strides[axis] = 0;
  return strides;
}

AxisView anec::viewAxis(llvm::ArrayRef<int64_t> shape, int64_t axis) {
  AxisView view;
  for (int64_t extent : shape.take_front(axis))
    view.outer *= extent;
  view.extent = shape[axis];
  for (int64_t extent : shape.drop_front(axis + 1))
    view.inner *= extent;
  return view;
}

void anec::copyElements(llvm::ArrayRef<int64_t> shape, const double *in,
                        const Shape &inStrides, double *out,
                        const Shape &outStrides) {
  forEachElement<2>(shape, {inStrides, outStrides},
                    [&](const auto &at) { out[at[1]] = in[at[0]]; });
}

void anec::settleIntegers(RefTensor &tensor) {
  DType dtype = tensor.type.dtype;
  if (!isInteger(dtype))
    return;
  double low = lowest(dtype), high = highest(dtype);
  for (double &element : tensor.data) {
    element = std::trunc(element) + 0.0; // integers have no -0
    if (!(element >= low))               // also NaN
      element = std::isnan(element) ? 0.0 : low;
    else if (element > high)
      element = high;
  }
}

void anec::multiply(int64_t m, int64_t n, int64_t k, const double *lhs,
                    const double *rhs, double *out) {
  // Process four rows per pass over rhs, the large operand.
  constexpr int64_t rows = 4;
  for (int64_t i = 0; i < m; i += rows) {
    int64_t count = std::min(rows, m - i);
    for (int64_t p = 0; p < k; ++p)
      for (int64_t r = 0; r < count; ++r) {
        double factor = lhs[(i + r) * k + p];
        double *row = out + (i + r) * n;
        const double *column = rhs + p * n;
        for (int64_t j = 0; j < n; ++j)
          row[j] += factor * column[j];
      }
  }
}

std::vector<double> anec::transposed(const double *in, int64_t rows,
                                     int64_t columns) {
  std::vector<double> out(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      out[j * rows + i] = in[i * columns + j];
  return out;
}

void anec::softmaxInPlace(double *row, int64_t count, int64_t stride) {
  double top = -INFINITY;
  for (int64_t i = 0; i < count; ++i)
    top = std::max(top, row[i * stride]);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += row[i * stride] = std::exp(row[i * stride] - top);
  for (int64_t i = 0; i < count; ++i)
    row[i * stride] /= sum;
}
