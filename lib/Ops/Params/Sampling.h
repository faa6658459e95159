//===- Sampling.h - parameters of resizing, sampling and boxes --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_SAMPLING_H
#define ANEC_LIB_OPS_PARAMS_SAMPLING_H

#include "lib/IR/ModeParam.h"

namespace anec {

/// Where an axis of a resized image is read: see samplingPoint.
ANEC_ENUM(SamplingMode, (AlignCorners, "ALIGN_CORNERS"), (Default, "DEFAULT"),
          (OffsetCorners, "OFFSET_CORNERS"),
          (StrictAlignCorners, "STRICT_ALIGN_CORNERS"),
          (UnalignCorners, "UNALIGN_CORNERS"))

/// How an image is read between its pixels.
ANEC_ENUM(Interpolation, (Bilinear, "bilinear"), (Nearest, "nearest"))

/// How an image is read outside of it: as a constant, as its border, or as its
/// mirror image, without and with the pixels of the border.
ANEC_ENUM(PaddingMode, (Border, "border"), (Constant, "constant"),
          (Reflection, "reflection"), (Symmetric, "symmetric"))

/// What the coordinates of points are: -1 to 1, 0 to 1, or pixels.
ANEC_ENUM(CoordinatesMode,
          (NormalizedMinusOneToOne, "normalized_minus_one_to_one"),
          (NormalizedZeroToOne, "normalized_zero_to_one"),
          (Unnormalized, "unnormalized"))

namespace param {

ANEC_PARAM(alignCorners, "align_corners", Bool)
ANEC_PARAM(boxes, "boxes", Value)
ANEC_PARAM(coordinates, "coordinates", Value)
ANEC_MODE(coordinatesMode, "coordinates_mode", CoordinatesMode)
ANEC_MODE(paddingMode, "padding_mode", PaddingMode)
ANEC_PARAM(paddingValue, "padding_value", Float)
ANEC_PARAM(roi, "roi", Value)
ANEC_MODE(interpolation, "sampling_mode", Interpolation)
ANEC_MODE(samplingMode, "sampling_mode", SamplingMode)
ANEC_PARAM(scaleFactorHeight, "scale_factor_height", Float)
ANEC_PARAM(scaleFactorWidth, "scale_factor_width", Float)
ANEC_PARAM(scoreThreshold, "score_threshold", Float)
ANEC_PARAM(targetSizeHeight, "target_size_height", Int)
ANEC_PARAM(targetSizeWidth, "target_size_width", Int)

} // namespace param
} // namespace anec

#endif // ANEC_LIB_OPS_PARAMS_SAMPLING_H
