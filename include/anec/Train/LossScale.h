//===- LossScale.h - the factor that keeps fp16 gradients -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Gradients that are too small for fp16 come out as zeros, those that are too
/// large as infinities. The loss is scaled to keep them in between: halved when
/// one was not finite, which costs that step, doubled after many good ones.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_LOSSSCALE_H
#define ANEC_TRAIN_LOSSSCALE_H

#include <cstdint>

namespace anec {

struct LossScale {
  double factor = 1;
  uint64_t goodSteps = 0; ///< since it last changed

  /// After a step whose gradients were all finite or not. `growth`: good steps
  /// after which it doubles; 0 for never.
  void update(bool finite, uint64_t growth) {
    if (!finite) {
      factor = factor > least ? factor / 2 : least;
      goodSteps = 0;
    } else if (++goodSteps == growth) {
      factor = factor < most ? factor * 2 : most;
      goodSteps = 0;
    }
  }
  /// Whether it cannot get any smaller.
  bool isLeast() const { return factor <= least; }

  static constexpr double least = 0x1p-14, most = 0x1p40;
};

} // namespace anec

#endif // ANEC_TRAIN_LOSSSCALE_H
