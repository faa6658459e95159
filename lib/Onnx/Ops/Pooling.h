//===- Pooling.h - averages of windows --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPS_POOLING_H
#define ANEC_LIB_ONNX_OPS_POOLING_H

#include "../Node.h"

namespace anec::onnx {

/// The averages of `x` in the windows that the attributes of `node` describe.
/// Missing after an error.
Val averaged(Node &node, Val x);
/// The same of maxima; output 1 has their places.
Val maxima(Node &node, Val x);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_OPS_POOLING_H
