//===- Quantization.h - affine quantization ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A scale and a zero point, one for all elements or one for each along an
/// axis: shared by the ops that compute with them and by the one that unpacks
/// weights.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_QUANTIZATION_H
#define ANEC_LIB_OPS_QUANTIZATION_H

#include "anec/IR/OpDef.h"

namespace anec {

/// Whether operand `slot` (absent is fine) is a scalar or has `extent`
/// elements.
bool checkPerAxis(InferContext &ctx, unsigned slot, int64_t extent);

/// out = scale * (in - zeroPoint); `zeroPoint` may be null. `axis` counts when
/// one of the two is no scalar.
void dequantize(const RefTensor &in, const RefTensor *zeroPoint,
                const RefTensor &scale, int64_t axis, RefTensor &out);

} // namespace anec

#endif // ANEC_LIB_OPS_QUANTIZATION_H
