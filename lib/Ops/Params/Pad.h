//===- Pad.h - the mode of pad ---------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_PAD_H
#define ANEC_LIB_OPS_PARAMS_PAD_H

#include "lib/IR/ModeParam.h"

namespace anec {

/// What is outside of an array: a number, the mirror image of the array without
/// its edge, or the edge.
ANEC_ENUM(PadMode, (Constant, "constant"), (Reflect, "reflect"),
          (Replicate, "replicate"))

namespace param {

ANEC_MODE(padMode, "mode", PadMode)

} // namespace param
} // namespace anec

#endif // ANEC_LIB_OPS_PARAMS_PAD_H
