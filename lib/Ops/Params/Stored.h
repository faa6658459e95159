//===- Stored.h - parameters of stored arrays -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_STORED_H
#define ANEC_LIB_OPS_PARAMS_STORED_H

#include "lib/IR/ModeParam.h"

namespace anec {

/// What the gradient of a weight is for: an optimizer reads it, or it is taken
/// off the weight, as of running statistics.
ANEC_ENUM(GradientUse, (Trained, "trained"), (Updated, "updated"))

namespace param {

ANEC_PARAM(frozen, "frozen", Bool)
ANEC_MODE(gradientUse, "mode", GradientUse)
ANEC_PARAM(view, "view", String)

} // namespace param
} // namespace anec

#endif // ANEC_LIB_OPS_PARAMS_STORED_H
