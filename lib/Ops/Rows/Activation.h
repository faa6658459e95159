//===- Rows/Activation.h - the rows of Activation.cpp -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_ACTIVATION_H
#define ANEC_LIB_OPS_ROWS_ACTIVATION_H

#include "lib/Ops/Rows/Row.h"

namespace anec::ops {

ANEC_ROWS(activationRows, ClampedRelu, Elu, Gelu, LeakyRelu, LinearActivation,
          Prelu, Relu, Relu6, ScaledTanh, Sigmoid, SigmoidHard, Silu, Softplus,
          SoftplusParametric, Softsign, Tanh, ThresholdedRelu)

} // namespace anec::ops

#endif // ANEC_LIB_OPS_ROWS_ACTIVATION_H
