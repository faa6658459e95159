//===- Sampling.h - parameters of resizing, sampling and boxes --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_SAMPLING_H
#define ANEC_LIB_OPS_PARAMS_SAMPLING_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(alignCorners, "align_corners", Bool)
ANEC_PARAM(boxes, "boxes", Value)
ANEC_PARAM(coordinates, "coordinates", Value)
ANEC_PARAM(coordinatesMode, "coordinates_mode", String)
ANEC_PARAM(paddingMode, "padding_mode", String)
ANEC_PARAM(paddingValue, "padding_value", Float)
ANEC_PARAM(roi, "roi", Value)
ANEC_PARAM(samplingMode, "sampling_mode", String)
ANEC_PARAM(scaleFactorHeight, "scale_factor_height", Float)
ANEC_PARAM(scaleFactorWidth, "scale_factor_width", Float)
ANEC_PARAM(scoreThreshold, "score_threshold", Float)
ANEC_PARAM(targetSizeHeight, "target_size_height", Int)
ANEC_PARAM(targetSizeWidth, "target_size_width", Int)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_SAMPLING_H
