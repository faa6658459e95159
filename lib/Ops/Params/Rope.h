//===- Rope.h - parameters of rotary embedding ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_ROPE_H
#define ANEC_LIB_OPS_PARAMS_ROPE_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(count, "count", Int)
ANEC_PARAM(factor, "factor", Float)
ANEC_PARAM(fastTurns, "fast_turns", Float)
ANEC_PARAM(inverse, "inverse", Bool)
ANEC_PARAM(longFactors, "long_factors", Any)
ANEC_PARAM(magnitude, "magnitude", Float)
ANEC_PARAM(originalPositions, "original_positions", Int)
ANEC_PARAM(positions, "positions", Int)
ANEC_PARAM(rotary, "rotary", Int)
ANEC_PARAM(scaling, "scaling", String)
ANEC_PARAM(shortFactors, "short_factors", Any)
ANEC_PARAM(slowTurns, "slow_turns", Float)
ANEC_PARAM(style, "style", String)
ANEC_PARAM(theta, "theta", Float)
ANEC_PARAM(width, "width", Int)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_ROPE_H
