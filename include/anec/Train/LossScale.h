//===- LossScale.h - the factor that keeps fp16 gradients -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Small gradients underflow to zero in fp16, and large ones overflow. The loss
/// is scaled to keep them in range: the scale is halved when a gradient is not
/// finite, which loses that step, and doubled after many good steps.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_LOSSSCALE_H
#define ANEC_TRAIN_LOSSSCALE_H

#include <cstdint>

namespace anec {

struct LossScale {
  double factor = 1;
  uint64_t goodSteps = 0; ///< since `factor` last changed

  /// Updates the scale after a step; `finite`: whether all gradients were.
  /// `growth`: number of good steps after which it doubles; 0 for never.
  void update(bool finite, uint64_t growth) {
    if (!finite) {
      factor = factor > least ? factor / 2 : least;
      goodSteps = 0;
    } else if (++goodSteps >= growth && growth) {
      factor = factor < most ? factor * 2 : most;
      goodSteps = 0;
    }
  }
  /// Whether the scale has reached its minimum.
  bool isLeast() const { return factor <= least; }

  static constexpr double least = 0x1p-14, most = 0x1p40;
};

/// What steps leave behind for the next one, besides weights and moments.
struct StepState {
  uint64_t updates = 0; ///< steps that changed the weights
  LossScale lossScale;
  uint64_t badLosses = 0; ///< not finite, in a row
};

} // namespace anec

#endif // ANEC_TRAIN_LOSSSCALE_H
