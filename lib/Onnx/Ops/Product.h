//===- Product.h - products of matrices -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPS_PRODUCT_H
#define ANEC_LIB_ONNX_OPS_PRODUCT_H

#include "../Node.h"

namespace anec::onnx {

/// As numpy: a vector is a row on the left and a column on the right, also
/// where matrices are transposed.
Val product(Emitter &e, Val x, Val y, bool transposeX = false,
            bool transposeY = false);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_OPS_PRODUCT_H
