//===- Sampling.h - sampling points of resized images -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_SAMPLING_H
#define ANEC_LIB_OPS_SAMPLING_H

#include "Reference.h"
#include "lib/Ops/Params/Sampling.h"

namespace anec {

/// The position in an axis of `inputs` elements (at 0, 1, ...) that output
/// element `i` of `outputs` reads. For a part of an axis, `inputs` can be
/// fractional.
double samplingPoint(SamplingMode mode, int64_t i, double inputs,
                     int64_t outputs);

} // namespace anec

#endif // ANEC_LIB_OPS_SAMPLING_H
