//===- Quantized.h - quantized values ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPS_QUANTIZED_H
#define ANEC_LIB_ONNX_OPS_QUANTIZED_H

#include "../Node.h"

namespace anec::onnx {

/// The axis of scales and zero points of several elements, and how many
/// elements of the axis have one each; 0 if each has its own.
struct ScaleAxis {
  ScaleAxis(int64_t axis = 0, int64_t block = 0) : axis(axis), block(block) {}
  int64_t axis, block;
};

/// A vector along an axis of `x`, or numbers of blocks, so that they broadcast;
/// a number is one.
Val spread(Emitter &e, Val vector, Val x, ScaleAxis along);

/// The integers `x`, rounded and limited to their type.
Val saturated(Emitter &e, Val x, DType dtype);

/// round(x / scale) + zero point, of type `dtype`.
Val quantized(Emitter &e, Val x, Val scale, Val zero, ScaleAxis axis,
              DType dtype);

/// x - zero point, as floats. The zero point may be missing.
Val shifted(Emitter &e, Val x, Val zero, ScaleAxis axis, DType dtype);

/// uint8, with a scale and a zero point that follow from the values.
struct DynamicallyQuantized {
  Val values, scale, zero;
};
DynamicallyQuantized quantizedByValues(Emitter &e, Val x);

/// (a - zero point) (b - zero point), in fp32, which holds sums up to 2^24.
/// Zero points are numbers, or have one for each row of `a` or column of `b`.
Val integerProduct(Emitter &e, Val a, Val aZero, Val b, Val bZero);

/// x * scale / output scale + output zero point. The last two are the inputs
/// `output` and `output` + 1 of the node.
Val requantized(Node &node, Val x, Val scale, size_t output);

/// The channels, which are the last axis, as the second one; or the reverse.
Val channelsMoved(Emitter &e, Val x, bool toFront);

// Rows that both domains have.
void readQuantizeLinear(Node &node);
void readDequantizeLinear(Node &node);
void readQLinearConv(Node &node);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_OPS_QUANTIZED_H
