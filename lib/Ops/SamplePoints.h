//===- SamplePoints.h - points between and outside of pixels ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What the references of resample, affine and crop_resize, and the step of
/// resample on the processor, read at a point of an image.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_SAMPLEPOINTS_H
#define ANEC_LIB_OPS_SAMPLEPOINTS_H

#include "lib/Ops/Params/Sampling.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace anec {

/// How positions outside of an image are read.
struct Outside {
  PaddingMode mode = PaddingMode::Constant;
  double value = 0;

  /// The position inside an axis of `extent` that is read for position `i`;
  /// nothing when `value` is used.
  std::optional<int64_t> resolve(int64_t i, int64_t extent) const {
    if (i >= 0 && i < extent)
      return i;
    if (mode == PaddingMode::Constant)
      return std::nullopt;
    if (mode == PaddingMode::Border || extent == 1)
      return std::clamp<int64_t>(i, 0, extent - 1);
    // The axis and its mirror image repeat; Symmetric also repeats the edges.
    int64_t repeated = mode == PaddingMode::Symmetric ? 1 : 0;
    int64_t period = 2 * (extent - 1 + repeated);
    int64_t at = (i % period + period) % period;
    return at < extent ? at : period - at - repeated;
  }
};

/// Clamps a coordinate, which can be any number or NaN, to the range of an
/// integer.
inline double boundPoint(double x) {
  constexpr double limit = double(int64_t(1) << 40);
  return std::isnan(x) ? -limit : std::clamp(x, -limit, limit);
}

/// Converts a coordinate to a position in an axis of `extent` elements.
inline double positionOf(double coordinate, int64_t extent,
                         CoordinatesMode mode, bool alignCorners) {
  double part = coordinate;
  switch (mode) {
  case CoordinatesMode::NormalizedMinusOneToOne:
    part = (coordinate + 1) / 2;
    break;
  case CoordinatesMode::NormalizedZeroToOne:
    break;
  case CoordinatesMode::Unnormalized:
    return boundPoint(coordinate);
  }
  return boundPoint(alignCorners ? part * double(extent - 1)
                                 : part * double(extent) - 0.5);
}

} // namespace anec

#endif // ANEC_LIB_OPS_SAMPLEPOINTS_H
