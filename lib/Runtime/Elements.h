//===- Elements.h - elements in memory during runs --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs on the processor hold each element in a word of four bytes: floats of
/// any type as fp32 holding a value representable in that type, integers and
/// booleans as int32. These are the conversions from and to all other forms.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ELEMENTS_H
#define ANEC_LIB_RUNTIME_ELEMENTS_H

#include "anec/IR/Type.h"
#include "anec/Support/Executor.h"

namespace anec {

/// Converts elements of `type`, row-major and little-endian, to words; uses the
/// workers of `executor` for large arrays.
void loadElements(const TensorType &type, llvm::ArrayRef<uint8_t> bytes,
                  uint32_t *words, Executor &executor);
/// Words to elements of `type`, rounded to the nearest.
void storeElements(const TensorType &type, const uint32_t *words,
                   llvm::MutableArrayRef<uint8_t> bytes, Executor &executor);

/// Words of elements of `dtype` to doubles.
void loadDoubles(DType dtype, const uint32_t *words,
                 llvm::MutableArrayRef<double> values);
/// Doubles to words, rounded to `dtype`.
void storeDoubles(DType dtype, llvm::ArrayRef<double> values, uint32_t *words);

/// `to[i]` is the nearest fp16 of `from[i]`, as fp32. Both may be the same.
void roundToHalves(const float *from, float *to, size_t count,
                   Executor &executor);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_ELEMENTS_H
