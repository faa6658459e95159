//===- Recurrent.h - recurrent layers ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPS_RECURRENT_H
#define ANEC_LIB_ONNX_OPS_RECURRENT_H

#include "../Node.h"

namespace anec::onnx {

/// Reads a node with the inputs and attributes of LSTM, but for the weights:
/// [directions, gates, inputs] and [directions, gates, hidden].
void readLstm(Node &node, Val inputWeights, Val hiddenWeights);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_OPS_RECURRENT_H
