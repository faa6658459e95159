//===- Rope.h - parameters of rotary embedding ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_ROPE_H
#define ANEC_LIB_OPS_PARAMS_ROPE_H

#include "lib/IR/ModeParam.h"

namespace anec {

/// Which channels of a head are a pair: 2i and 2i + 1, or i of both halves.
ANEC_ENUM(RopeStyle, (Interleaved, "interleaved"), (HalfSplit, "half_split"))

/// How angles are scaled for texts longer than those of the training.
ANEC_ENUM(RopeScalingKind, (None, "none"), (Linear, "linear"),
          (Dynamic, "dynamic"), (Llama3, "llama3"), (Yarn, "yarn"),
          (LongRope, "longrope"))

// The parameters that belong to a kind: `factor`; `original_positions`;
// `slow_turns` and `fast_turns`.
constexpr bool hasFactor(RopeScalingKind kind) {
  return kind != RopeScalingKind::None && kind != RopeScalingKind::LongRope;
}
constexpr bool hasOriginal(RopeScalingKind kind) {
  return kind != RopeScalingKind::None && kind != RopeScalingKind::Linear;
}
constexpr bool hasTurns(RopeScalingKind kind) {
  return kind == RopeScalingKind::Llama3 || kind == RopeScalingKind::Yarn;
}
/// Whether a factor of 1 scales nothing.
constexpr bool isPlainWithFactor1(RopeScalingKind kind) {
  return kind == RopeScalingKind::None || kind == RopeScalingKind::Linear ||
         hasTurns(kind);
}

namespace param {

ANEC_PARAM(count, "count", Int)
ANEC_PARAM(factor, "factor", Float)
ANEC_PARAM(fastTurns, "fast_turns", Float)
ANEC_PARAM(inverse, "inverse", Bool)
ANEC_PARAM(longFactors, "long_factors", Any)
ANEC_PARAM(magnitude, "magnitude", Float)
ANEC_PARAM(originalPositions, "original_positions", Int)
ANEC_PARAM(positions, "positions", Int)
ANEC_PARAM(rotary, "rotary", Int)
ANEC_MODE(scaling, "scaling", RopeScalingKind)
ANEC_PARAM(shortFactors, "short_factors", Any)
ANEC_PARAM(slowTurns, "slow_turns", Float)
ANEC_MODE(style, "style", RopeStyle)
ANEC_PARAM(theta, "theta", Float)
ANEC_PARAM(width, "width", Int)

} // namespace param
} // namespace anec

#endif // ANEC_LIB_OPS_PARAMS_ROPE_H
