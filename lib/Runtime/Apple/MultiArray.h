//===- MultiArray.h - arrays of Core ML -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_MULTIARRAY_H
#define ANEC_LIB_RUNTIME_APPLE_MULTIARRAY_H

#include "CoreMLProtocols.h"
#include "HostArray.h"

namespace anec::apple {

/// The MLMultiArrayDataType of elements; 0 when Core ML has none.
NSInteger dataTypeOf(DType type);
/// The numbers of an array, and an array of numbers.
NSArray *numbersOf(llvm::ArrayRef<int64_t> values);
std::vector<int64_t> valuesOf(NSArray *numbers);

/// The shape that Core ML has for `type`: a scalar is an array of one element.
Shape arrayShape(const TensorType &type);

/// Memory like that of `array` as an MLMultiArray, which is valid as long as
/// the memory.
id<MlMultiArray> wrap(llvm::ArrayRef<uint8_t> memory, const HostArray &array,
                      NSError **error);
/// Arrays by the names of their ports; nil when one cannot be made.
NSDictionary *wrapAll(llvm::ArrayRef<HostArray> arrays, NSError **error);
/// Copies to `to` what was computed for it: Core ML can have written to the
/// array itself, or to one of its own, with any strides.
BOOL take(id<MlMultiArray> computed, HostArray &to, NSError **error);
/// Copies contiguous elements to an array with any strides, and back.
BOOL copyTo(id<MlMultiArray> array, llvm::ArrayRef<uint8_t> elements);
BOOL copyFrom(id<MlMultiArray> array, llvm::MutableArrayRef<uint8_t> elements);

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_MULTIARRAY_H
