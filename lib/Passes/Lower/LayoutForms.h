//===- LayoutForms.h - where the axes of a value are ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine works on tensors of rank 4. A value of lower rank has one of two
/// forms, of the same elements in the same order:
///
///                Channels          Rows
///   [S]          [1, 1, 1, S]      [1, 1, 1, S]
///   [C, S]       [1, C, 1, S]      [1, 1, C, S]
///   [N, C, S]    [N, C, 1, S]      [1, N, C, S]
///
/// Convolutions take `Channels`, and products of matrices take `Rows`. Values
/// of different rank broadcast to each other when they have the same form.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_LOWER_LAYOUTFORMS_H
#define ANEC_LIB_PASSES_LOWER_LAYOUTFORMS_H

#include "anec/IR/IR.h"

namespace anec {

enum class LayoutForm : uint8_t { Channels, Rows };

/// The rank of values on the engine.
inline constexpr unsigned engineRank = 4;

/// The form of inputs and outputs, and of ops that have no reason for another.
inline LayoutForm usualForm(unsigned rank) {
  return rank == 3 ? LayoutForm::Rows : LayoutForm::Channels;
}

/// The axis of the layout at which axis `axis` of a value of `rank` is. The
/// axes of values that keep their rank stay.
int64_t layoutAxis(int64_t axis, unsigned rank, LayoutForm form);

/// Places `values`, one for each axis of a value, at the layout's axes; others
/// get `fill`.
Shape layoutPerAxis(llvm::ArrayRef<int64_t> values, int64_t fill,
                    LayoutForm form);

/// `shape` in the layout.
inline Shape layoutShape(llvm::ArrayRef<int64_t> shape, LayoutForm form) {
  return layoutPerAxis(shape, 1, form);
}

} // namespace anec

#endif // ANEC_LIB_PASSES_LOWER_LAYOUTFORMS_H
