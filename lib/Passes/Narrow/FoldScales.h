//===- FoldScales.h - constant factors and addends of one op ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_FOLDSCALES_H
#define ANEC_LIB_PASSES_NARROW_FOLDSCALES_H

#include "lib/IR/OpDef.h"

namespace anec {

class Builder;

/// What the pass `fold-scales` does to `function`. Returns the number of ops
/// that became part of others.
size_t foldScales(Function &function);

/// Multiplies the results of `op` by `factor`, or adds `addend` to them, by
/// other constants of it. Returns the result of the new op, called `name`; null
/// when the op has no constants for it.
Value *absorbFactor(Op &op, const RefTensor &factor, Builder &builder,
                    llvm::StringRef name);
Value *absorbAddend(Op &op, const RefTensor &addend, Builder &builder,
                    llvm::StringRef name);

/// The same for products with a matrix, which take an addend as `linear`, and
/// for what `asRmsNorm` made.
Value *biasedProduct(Op &op, const RefTensor &addend, Builder &builder,
                     llvm::StringRef name);
Value *scaledRmsNorm(Op &op, const RefTensor &factor, Builder &builder,
                     llvm::StringRef name);

/// The `layer_norm` that `op`, the last op of a norm written as means and
/// differences, computes; null for other ops.
Value *asLayerNorm(Op &op, Builder &builder);
/// The same for a norm by the mean of squares, as half of a `layer_norm`.
Value *asRmsNorm(Op &op, Builder &builder);

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_FOLDSCALES_H
