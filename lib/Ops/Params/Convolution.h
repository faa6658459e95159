//===- Convolution.h - parameters of convolutions and pooling ---*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_CONVOLUTION_H
#define ANEC_LIB_OPS_PARAMS_CONVOLUTION_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(ceilMode, "ceil_mode", Bool)
ANEC_PARAM(dilations, "dilations", Ints)
ANEC_PARAM(excludePaddingFromAverage, "exclude_padding_from_average", Bool)
ANEC_PARAM(kernelSizes, "kernel_sizes", Ints)
ANEC_PARAM(outputShape, "output_shape", Ints)
ANEC_PARAM(padType, "pad_type", String)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_CONVOLUTION_H
