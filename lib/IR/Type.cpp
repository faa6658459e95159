//===- Type.cpp - element types and tensor types --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/Type.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

using namespace anec;

namespace {
enum class Family : uint8_t { Bool, String, Float, Integer };
struct DTypeRow {
  DType dtype;
  llvm::StringLiteral spelling;
  uint8_t bits;
  Family family;
};
} // namespace

// In the order of DType.
static constexpr DTypeRow rows[] = {
    {DType::Bool, "bool", 8, Family::Bool},
    {DType::String, "string", 0, Family::String},
    {DType::FP16, "fp16", 16, Family::Float},
    {DType::FP32, "fp32", 32, Family::Float},
    {DType::FP64, "fp64", 64, Family::Float},
    {DType::BF16, "bf16", 16, Family::Float},
    {DType::FP8E4M3FN, "fp8e4m3fn", 8, Family::Float},
    {DType::FP8E5M2, "fp8e5m2", 8, Family::Float},
    {DType::Int4, "int4", 4, Family::Integer},
    {DType::Int8, "int8", 8, Family::Integer},
    {DType::Int16, "int16", 16, Family::Integer},
    {DType::Int32, "int32", 32, Family::Integer},
    {DType::Int64, "int64", 64, Family::Integer},
    {DType::UInt1, "uint1", 1, Family::Integer},
    {DType::UInt2, "uint2", 2, Family::Integer},
    {DType::UInt3, "uint3", 3, Family::Integer},
    {DType::UInt4, "uint4", 4, Family::Integer},
    {DType::UInt6, "uint6", 6, Family::Integer},
    {DType::UInt8, "uint8", 8, Family::Integer},
    {DType::UInt16, "uint16", 16, Family::Integer},
    {DType::UInt32, "uint32", 32, Family::Integer},
    {DType::UInt64, "uint64", 64, Family::Integer},
};
static_assert(std::size(rows) == numDTypes);

llvm::StringRef anec::spelling(DType dtype) {
  return rows[unsigned(dtype)].spelling;
}

std::optional<DType> anec::parseDType(llvm::StringRef spelling) {
  for (const DTypeRow &row : rows)
    if (row.spelling == spelling)
      return row.dtype;
  return std::nullopt;
}

unsigned anec::bitWidth(DType dtype) { return rows[unsigned(dtype)].bits; }

bool anec::isFloat(DType dtype) {
  return rows[unsigned(dtype)].family == Family::Float;
}

bool anec::isInteger(DType dtype) {
  return rows[unsigned(dtype)].family == Family::Integer;
}

uint64_t anec::byteSize(DType dtype, uint64_t count) {
  unsigned bits = bitWidth(dtype);
  if (bits % 8 == 0)
    return count * (bits / 8);
  return llvm::divideCeil(count * bits, 8);
}

std::string DTypeSet::str() const {
  std::string text;
  for (const DTypeRow &row : rows) {
    if (!contains(row.dtype))
      continue;
    if (!text.empty())
      text += ", ";
    text += row.spelling;
  }
  return text;
}

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
  // An extent of 0 does not excuse the others: whoever multiplies them in
  // another order must not overflow. What counts bytes, or bits, does not
  // either.
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
