//===- Weights.h - from a stored array to a weight's value -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A `weight` op names an array that is bound late, and may ask for it
/// transposed (`perm`) and reshaped (`shape`), so that passes can lay weights
/// out without having them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_OPS_WEIGHTS_H
#define ANEC_OPS_WEIGHTS_H

#include "anec/IR/IR.h"

namespace anec {

/// The type of the array as it is stored under the weight's name.
TensorType weightSourceType(const Op &weight);

/// The value of `weight` when `source`, of `weightSourceType`, is stored under
/// its name: transposed, then reshaped. Copies only to transpose.
ConstantRef arrangeWeight(const Op &weight, ConstantRef source);
std::vector<double> arrangeWeight(const Op &weight,
                                  llvm::ArrayRef<double> source);

} // namespace anec

#endif // ANEC_OPS_WEIGHTS_H
