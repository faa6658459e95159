//===- AlongAxis.h - what several families need ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPS_ALONGAXIS_H
#define ANEC_LIB_ONNX_OPS_ALONGAXIS_H

#include "../Node.h"

namespace anec::onnx {

/// The product of `x` along an axis and constants [count, extent of the axis].
Val weighAlong(Emitter &e, Val x, int64_t axis, llvm::ArrayRef<double> weights);
/// log(softmax(x)).
Val logSoftmax(Emitter &e, Val x, int64_t axis);
/// The position along an axis of each element of a shape.
Val positionsOf(Emitter &e, llvm::ArrayRef<int64_t> shape, int64_t axis);
/// Whether indices, if they are known, are of an axis of `extent`; the node has
/// failed otherwise.
[[nodiscard]] bool checkIndices(Node &n, Val indices, int64_t extent);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_OPS_ALONGAXIS_H
