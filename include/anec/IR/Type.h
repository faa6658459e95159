//===- Type.h - element types and tensor types -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The element types MIL knows, and the type of every value: an element type
/// and a shape. There are no other types: a scalar is a tensor of rank 0, and
/// MIL's two spellings of it (`fp16` and `tensor<fp16, []>`) are one type.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_TYPE_H
#define ANEC_IR_TYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace anec {

/// An element type, in MIL's order of families. The row of each (spelling,
/// width, blob code) is in Type.cpp.
enum class DType : uint8_t {
  Bool,
  String,
  FP16,
  FP32,
  FP64,
  BF16,
  FP8E4M3FN,
  FP8E5M2,
  Int4,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt1,
  UInt2,
  UInt3,
  UInt4,
  UInt6,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
};
constexpr unsigned numDTypes = unsigned(DType::UInt64) + 1;

/// MIL's spelling: `fp16`, `int32`, `fp8e4m3fn`, ...
llvm::StringRef spelling(DType dtype);
std::optional<DType> parseDType(llvm::StringRef spelling);

/// Bits of one element as stored in a blob; 8 for `bool`, 0 for `string`.
unsigned bitWidth(DType dtype);
bool isFloat(DType dtype);
bool isInteger(DType dtype);
/// Bytes of `count` packed elements (sub-byte types are packed, rounded up).
uint64_t byteSize(DType dtype, uint64_t count);

/// A set of element types: the domain of an op's parameter.
class DTypeSet {
public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes)
      bits |= 1u << unsigned(dtype);
  }
  constexpr bool contains(DType dtype) const {
    return bits >> unsigned(dtype) & 1;
  }
  constexpr bool operator==(const DTypeSet &) const = default;
  /// The spellings in order, joined by ", ".
  std::string str() const;

private:
  uint32_t bits = 0;
};

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
/// Product of `shape`, or nothing when it is more than anec handles or an
/// extent is negative.
std::optional<int64_t> checkedNumElements(llvm::ArrayRef<int64_t> shape);
/// Row-major strides, in elements.
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// The numpy broadcast of two shapes, or nothing when they do not broadcast.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> lhs,
                                     llvm::ArrayRef<int64_t> rhs);

} // namespace anec

#endif // ANEC_IR_TYPE_H
