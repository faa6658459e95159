//===- Products.h - ops that are matrix products ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What matmul, linear and conv have in common, apart from how a product is
/// computed.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_H

#include "Steps.h"
#include "anec/Runtime/CPU/ProductKernels.h"

namespace anec::cpu {

/// Products of one shape.
struct Products {
  GemmShape shape;
  std::vector<GemmOperands> operands;
  /// Lays the right operand of a product out where it cannot be used as it is
  /// (an image under a convolution's kernel), and changes `b` to that.
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

/// The products that an op on floats is; null when it is none.
std::shared_ptr<Products> matmulProducts(const Op &op, StepContext &ctx);
std::shared_ptr<Products> linearProducts(const Op &op, StepContext &ctx);
std::shared_ptr<Products> convProducts(const Op &op, StepContext &ctx);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_H
