//===- Products.h - ops that are matrix products ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The common parts of matmul, linear and conv, except the computation of a
/// product.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_H

#include "Steps.h"
#include "lib/Runtime/CPU/ProductKernels.h"

namespace anec::cpu {

/// Products of one shape.
struct Products {
  GemmShape shape;
  std::vector<GemmOperands> operands;
  /// Prepares a right operand that cannot be used as it is (an image under a
  /// convolution's kernel), and points `b` to the result.
  std::function<void(Executor &pool, GemmOperands &product)> prepare;

  /// Calls `multiply` with all operands at once, or, when each has to be
  /// prepared, one by one.
  void
  forEach(Executor &pool,
          llvm::function_ref<void(llvm::ArrayRef<GemmOperands>)> multiply) {
    if (!prepare)
      return multiply(operands);
    for (GemmOperands product : operands) {
      prepare(pool, product);
      multiply(product);
    }
  }
};

/// The products that compute an op on floats; null when there are none.
std::shared_ptr<Products> matmulProducts(const Op &op, StepContext &ctx);
std::shared_ptr<Products> linearProducts(const Op &op, StepContext &ctx);
std::shared_ptr<Products> convProducts(const Op &op, StepContext &ctx);

/// The step of products of which one operand has few rows or columns; an empty
/// function for others.
StepFn makeThinMatmul(const Products &products, Rounding rounding,
                      StepContext &ctx);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_H
