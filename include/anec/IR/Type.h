//===- Type.h - tensor types -----------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The type of every value: an element type and a shape. There are no other
/// types: a scalar is a tensor of rank 0, and MIL's two spellings of it (`fp16`
/// and `tensor<fp16, []>`) are one type.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_TYPE_H
#define ANEC_IR_TYPE_H

#include "anec/IR/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace anec {

using Shape = llvm::SmallVector<int64_t, 4>;

/// The type of a value: element type and extents, all known.
struct TensorType {
  DType dtype = DType::FP32;
  Shape shape;

  TensorType() = default;
  TensorType(DType dtype, llvm::ArrayRef<int64_t> shape = {})
      : dtype(dtype), shape(shape.begin(), shape.end()) {}

  unsigned rank() const { return shape.size(); }
  bool isScalar() const { return shape.empty(); }
  /// Product of the extents; 1 for a scalar.
  int64_t numElements() const;
  uint64_t numBytes() const { return byteSize(dtype, numElements()); }
  bool operator==(const TensorType &other) const {
    return dtype == other.dtype && shape == other.shape;
  }
  /// `fp16[768, 256]`, or `fp16` for a scalar: the spelling of .tdsl and IR.
  std::string str() const;
};

/// `[768, 256]`.
std::string shapeToString(llvm::ArrayRef<int64_t> shape);
/// Product of `shape`, or nothing when it is too large for anec or an extent is
/// negative.
std::optional<int64_t> checkedNumElements(llvm::ArrayRef<int64_t> shape);
/// Row-major strides, in elements.
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// The numpy broadcast of two shapes, or nothing when they do not broadcast.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> lhs,
                                     llvm::ArrayRef<int64_t> rhs);

} // namespace anec

#endif // ANEC_IR_TYPE_H
