//===- Elements.h - elements in memory -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Converts elements of every type from and to bytes: little-endian, and packed
/// from the low bit when narrower than a byte.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_ELEMENTS_H
#define ANEC_LIB_IR_ELEMENTS_H

#include "anec/IR/DType.h"
#include "llvm/ADT/ArrayRef.h"

namespace anec {

/// Element `index` of an array of `dtype` (no `string`) as a double; bool is 0
/// or 1. 64-bit integers are rounded.
double loadElement(DType dtype, const uint8_t *bytes, int64_t index);
/// Element `index` of an array of integers or booleans, extended to 64 bits.
int64_t loadInteger(DType dtype, const uint8_t *bytes, int64_t index);

/// Stores `value` as element `index`: floats are rounded to nearest even,
/// integers truncated and clamped, with 0 for a NaN. A packed element must be 0
/// before the call. Minifloats are not supported.
void storeElement(DType dtype, uint8_t *bytes, int64_t index, double value);
/// The same for the low bits of `bits`.
void storeBits(DType dtype, uint8_t *bytes, int64_t index, uint64_t bits);

/// The elements of a whole array, as `loadElement` and `storeElement` give
/// them. `bytes` of packed elements must be 0 before they are stored.
void loadDoubles(DType dtype, const uint8_t *bytes,
                 llvm::MutableArrayRef<double> values);
void storeDoubles(DType dtype, llvm::ArrayRef<double> values, uint8_t *bytes);

/// `value` rounded to `dtype` as `storeElement` does.
double roundToDType(double value, DType dtype);

} // namespace anec

#endif // ANEC_LIB_IR_ELEMENTS_H
