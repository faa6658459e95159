//===- Type.cpp - tensor types --------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/Type.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

using namespace anec;

int64_t TensorType::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string TensorType::str() const {
  std::string text = spelling(dtype).str();
  if (!isScalar())
    text += shapeToString(shape);
  return text;
}

std::string anec::shapeToString(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [index, extent] : llvm::enumerate(shape)) {
    if (index != 0)
      text += ", ";
    text += std::to_string(extent);
  }
  return text + "]";
}

std::optional<int64_t> anec::checkedNumElements(llvm::ArrayRef<int64_t> shape) {
  // The other extents are checked even when one is 0: multiplying them in
  // another order must not overflow, and neither must counting bytes or bits.
  constexpr int64_t most = INT64_MAX / 128;
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    empty |= extent == 0;
    if (extent < 0 ||
        llvm::MulOverflow(count, std::max<int64_t>(extent, 1), count) ||
        count > most)
      return std::nullopt;
  }
  return empty ? 0 : count;
}

Shape anec::rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

std::optional<Shape> anec::broadcastShapes(llvm::ArrayRef<int64_t> lhs,
                                           llvm::ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  Shape result(lhs.begin(), lhs.end());
  size_t shift = lhs.size() - rhs.size();
  for (size_t axis = 0; axis < rhs.size(); ++axis) {
    int64_t &extent = result[axis + shift];
    if (extent == 1)
      extent = rhs[axis];
    else if (rhs[axis] != 1 && rhs[axis] != extent)
      return std::nullopt;
  }
  return result;
}
