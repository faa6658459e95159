//===- PackedLayout.h - several tensors packed into one ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Packs several tensors into one of shape [channels, columns]. Each is a
/// matrix whose columns are its last axis (a vector is one column). They are
/// stacked along channels when all have the same number of columns and are no
/// more than `mostStackedChannels` together, and along columns otherwise, with
/// unused space below those with fewer channels. The
/// tensors of an input start at columns that slices are known to read right.
///
/// `packTensors` is used by the kernel that unpacks its input, the manifest
/// that records the layout, and the executor that fills inputs.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_PACKEDLAYOUT_H
#define ANEC_IR_PACKEDLAYOUT_H

#include "anec/IR/Type.h"

namespace anec {

/// A rectangle of a matrix [channels, columns].
struct Region {
  int64_t channel = 0, column = 0; ///< where the region begins
  int64_t channels = 0, columns = 0;

  int64_t size() const { return channels * columns; }
  bool operator==(const Region &) const = default;
};

/// `shape` as [channels, columns], with the same row-major order.
Region matrixOf(llvm::ArrayRef<int64_t> shape);

struct PackedLayout {
  int64_t channels = 0, columns = 0;  ///< of the whole
  llvm::SmallVector<Region, 4> parts; ///< of each tensor, in order

  Shape shape() const { return {channels, columns}; }
};

/// Tensors side by side in an input start at multiples of these columns: slices
/// at others are slow, and wrong on some chips (ANEForge on M1 and M2, and
/// published reports of widths that are no multiples of 32).
inline constexpr int64_t inputAlignment = 32;

/// The most channels of a value on any chip (ANEForge; rule `channel-limit`).
inline constexpr int64_t mostStackedChannels = 65536;

/// The position of each tensor in the packed one. Tensors side by side start at
/// multiples of `alignment` columns, which the whole is a multiple of, and
/// those with fewer columns follow the others.
PackedLayout packTensors(llvm::ArrayRef<TensorType> tensors,
                         int64_t alignment = 1);

/// Whether `tensors` is a single tensor that is already a matrix.
bool isPacked(llvm::ArrayRef<TensorType> tensors);

} // namespace anec

#endif // ANEC_IR_PACKEDLAYOUT_H
