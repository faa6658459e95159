//===- Weights.h - weights and their views ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A `weight` op names an array whose values are bound later, and reads it
/// through a view, so that passes can change the layout of weights without
/// their values.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_WEIGHTS_H
#define ANEC_LIB_OPS_WEIGHTS_H

#include "anec/IR/WeightView.h"
#include "lib/IR/Builder.h"

namespace anec {

/// The view that `weight`, a `weight` op, reads. It has no instance: that
/// depends on the op's index operand and its function.
WeightView viewOf(const Op &weight);

/// Builds a `weight` op like `weight`, of the same array and instance, with the
/// view `array`.
Value *buildWeight(Builder &builder, const Op &weight, const ArrayView &array,
                   llvm::StringRef name = "");

/// Applies `view` to `array`, which must have the view's source shape, with one
/// op per step of the view.
Value *buildView(Builder &builder, Value *array, const ArrayView &view);

/// Reads the weights of one number in a function as their only element: kernels
/// and programs take no scalars as weights.
void giveExtents(Function &function);

/// Whether `op` unpacks a quantized weight, whose parts are `weight` ops.
bool unpacksWeight(const Op &op);

/// Whether a constant is a part of a quantized weight, which an op unpacks.
bool isPartOfPackedWeight(const Value &constant);

} // namespace anec

#endif // ANEC_LIB_OPS_WEIGHTS_H
