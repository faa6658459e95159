//===- PackedLayout.h - several tensors in one -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Several tensors lie in one of [channels, columns]: each is seen as a matrix
/// whose columns are its last axis (a vector is one column), and they stand
/// under each other when all have as many columns, side by side otherwise, with
/// nothing below those that are lower than the highest.
///
/// The kernel that unpacks its input, the manifest that tells others where
/// things are, and the executor that fills inputs in all ask `packTensors`.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_PACKEDLAYOUT_H
#define ANEC_IR_PACKEDLAYOUT_H

#include "anec/IR/Type.h"

namespace anec {

/// A rectangle of a matrix [channels, columns].
struct Region {
  int64_t channel = 0, column = 0; ///< where it begins
  int64_t channels = 0, columns = 0;

  int64_t size() const { return channels * columns; }
  bool operator==(const Region &) const = default;
};

/// `shape` as [channels, columns]: row-major order is the same.
Region matrixOf(llvm::ArrayRef<int64_t> shape);

struct PackedLayout {
  int64_t channels = 0, columns = 0;  ///< of the whole
  llvm::SmallVector<Region, 4> parts; ///< of each tensor, in order

  Shape shape() const { return {channels, columns}; }
};

/// Where each tensor lies among all.
PackedLayout packTensors(llvm::ArrayRef<TensorType> tensors);

/// Whether `tensors` are just one, that is a matrix already.
bool isPacked(llvm::ArrayRef<TensorType> tensors);

} // namespace anec

#endif // ANEC_IR_PACKEDLAYOUT_H
