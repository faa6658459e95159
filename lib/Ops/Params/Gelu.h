//===- Gelu.h - the mode of gelu -------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_GELU_H
#define ANEC_LIB_OPS_PARAMS_GELU_H

#include "lib/IR/ModeParam.h"

namespace anec {

/// The exact function, or 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), or
/// x sigmoid(1.702 x).
ANEC_ENUM(GeluMode, (Exact, "EXACT"), (Tanh, "TANH_APPROXIMATION"),
          (Sigmoid, "SIGMOID_APPROXIMATION"))

namespace param {

ANEC_MODE(geluMode, "mode", GeluMode)

} // namespace param
} // namespace anec

#endif // ANEC_LIB_OPS_PARAMS_GELU_H
