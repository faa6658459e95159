//===- Quantization.h - parameters of quantized and packed values *- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_QUANTIZATION_H
#define ANEC_LIB_OPS_PARAMS_QUANTIZATION_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(lut, "lut", Value)
ANEC_PARAM(nonzeroData, "nonzero_data", Value)
ANEC_PARAM(scale, "scale", Value)
ANEC_PARAM(zeroPoint, "zero_point", Value)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_QUANTIZATION_H
