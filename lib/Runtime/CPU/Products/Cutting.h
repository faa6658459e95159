//===- Cutting.h - shared by all products -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// When a product is worth the pool's threads, how many rows of an operand are
/// made at once, offsets of elements, and bias and rounding after BLAS.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_CUTTING_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_CUTTING_H

#include "lib/Runtime/CPU/ProductKernels.h"
#include <algorithm>

namespace anec::cpu {

/// Below this many multiply-adds waking the pool costs more than it saves.
constexpr size_t smallProduct = 32 * 1024;

inline bool isSmall(const GemmShape &shape) {
  return shape.m * shape.n * shape.k <= smallProduct;
}

/// Whether a batch keeps every worker busy without cutting its products.
inline bool isBusyBatch(const Executor &pool, const GemmShape &shape,
                        size_t count) {
  return count >= 2 * pool.size() &&
         count * shape.m * shape.n * shape.k > smallProduct;
}

inline size_t divideUp(size_t count, size_t by) {
  return (count + by - 1) / by;
}

/// Rows of an operand [rows, k] that are made at once. Only the shape decides,
/// because BLAS can give other bits for another cut.
inline size_t rowsOfSlice(size_t rows, size_t k) {
  constexpr size_t cachedFloats = size_t(1) << 18; // half a small cache
  constexpr size_t grain = 24, most = 192, slices = 8;
  size_t each = divideUp(divideUp(rows, slices), grain) * grain;
  size_t cached = cachedFloats / std::max<size_t>(k, 1) / grain * grain;
  return std::max(grain, std::min({each, most, cached}));
}

/// The offset of element (row, column) of op(X) in the stored X.
inline size_t at(size_t row, size_t column, size_t leading, Transpose trans) {
  return trans == Transpose::Yes ? column * leading + row
                                 : row * leading + column;
}

/// A product over no elements, which are not looked at: zeros, or what is there
/// to be added to, with the epilogue.
void multiplyNothing(const GemmShape &shape, const GemmOperands &operands,
                     const GemmEpilogue &epilogue);

/// Applies bias and rounding by rows, while a slice of C is in the cache.
void finishProduct(const GemmShape &shape, const GemmOperands &operands,
                   Rounding rounding);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_CUTTING_H
