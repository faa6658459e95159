//===- StoredArray.h - an array of a file ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An array as a file has it: elements that are used in place, or floats that
/// are packed in blocks, with a scale each, and computed when they are asked
/// for.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_ARRAYS_STOREDARRAY_H
#define ANEC_ARRAYS_STOREDARRAY_H

#include "anec/IR/Constant.h"
#include <functional>

namespace anec {

class StoredArray {
public:
  /// Computes the elements of `count` blocks, from block `first` on.
  using Unpack = std::function<void(int64_t first, int64_t count, float *out)>;

  /// Elements that are used in place.
  StoredArray(ConstantRef elements)
      : elements(std::move(elements)), arrayType(this->elements->type()),
        formatName("") {}
  /// Packed elements, in blocks of `blockSize`. `format` is the name of the
  /// packing, `Q4_K`.
  StoredArray(const Shape &shape, int64_t blockSize, llvm::StringLiteral format,
              Unpack unpack)
      : arrayType(DType::FP32, shape), blockSize(blockSize), formatName(format),
        unpack(std::move(unpack)) {}

  /// fp32 for packed elements.
  const TensorType &type() const { return arrayType; }
  bool isPacked() const { return !elements; }
  /// The name of the packing; empty when there is none.
  llvm::StringRef format() const { return formatName; }

  /// The elements; packed ones are computed, in memory of the result.
  ConstantRef get() const { return get(arrayType.dtype); }
  /// The same, declared as the float type `dtype`. Packed elements are stored
  /// as `dtype` or as fp32.
  ConstantRef get(DType dtype) const;

private:
  ConstantRef unpacked(DType dtype) const;

  ConstantRef elements;
  TensorType arrayType;
  int64_t blockSize = 1;
  llvm::StringLiteral formatName;
  Unpack unpack;
};

} // namespace anec

#endif // ANEC_ARRAYS_STOREDARRAY_H
