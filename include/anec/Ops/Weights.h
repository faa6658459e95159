//===- Weights.h - weights and their views ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A `weight` op names an array that is bound late, and reads it through a
/// view, so that passes can lay weights out without having them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_OPS_WEIGHTS_H
#define ANEC_OPS_WEIGHTS_H

#include "anec/IR/Builder.h"
#include "anec/IR/WeightView.h"

namespace anec {

/// What `weight`, a `weight` op, reads. Which instance, its index and the
/// function it stands in say: the view has none.
WeightView viewOf(const Op &weight);

/// A `weight` op that reads `view`, of the instance that `index` names (null
/// for none).
Value *buildWeight(Builder &builder, const WeightView &view, Value *index,
                   llvm::StringRef name = "");

/// `array`, of the view's source shape, as `view` shows it: as many ops as the
/// view has steps.
Value *buildView(Builder &builder, Value *array, const ArrayView &view);

} // namespace anec

#endif // ANEC_OPS_WEIGHTS_H
