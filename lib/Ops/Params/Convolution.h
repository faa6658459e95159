//===- Convolution.h - parameters of convolutions and pooling ---*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_CONVOLUTION_H
#define ANEC_LIB_OPS_PARAMS_CONVOLUTION_H

#include "lib/IR/ModeParam.h"

namespace anec {

/// How much an image is padded: by nothing, by `pad`, or so that there are
/// ceil(extent / stride) outputs, with the odd element at the end or, with
/// SameLower, at the start.
ANEC_ENUM(PadType, (Valid, "valid"), (Custom, "custom"), (Same, "same"),
          (SameLower, "same_lower"))

/// Whether the padding follows from the extent.
constexpr bool isSame(PadType type) {
  return type == PadType::Same || type == PadType::SameLower;
}

namespace param {

ANEC_PARAM(ceilMode, "ceil_mode", Bool)
ANEC_PARAM(dilations, "dilations", Ints)
ANEC_PARAM(excludePaddingFromAverage, "exclude_padding_from_average", Bool)
ANEC_PARAM(kernelSizes, "kernel_sizes", Ints)
ANEC_PARAM(outputShape, "output_shape", Ints)
ANEC_MODE(padType, "pad_type", PadType)

} // namespace param
} // namespace anec

#endif // ANEC_LIB_OPS_PARAMS_CONVOLUTION_H
