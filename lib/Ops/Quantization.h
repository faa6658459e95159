//===- Quantization.h - affine quantization ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Affine quantization, with one scale and zero point for all elements or for
/// each index along an axis. Shared by quantize, dequantize and the op that
/// unpacks weights.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_QUANTIZATION_H
#define ANEC_LIB_OPS_QUANTIZATION_H

#include "lib/IR/OpDef.h"

namespace anec {

/// Whether operand `slot` (which can be absent) is a scalar or has `extent`
/// elements.
bool checkPerAxis(InferContext &ctx, unsigned slot, int64_t extent);

/// out = scale * (in - zeroPoint). `zeroPoint` can be null. `axis` is used when
/// `scale` or `zeroPoint` is not a scalar.
void dequantize(const RefTensor &in, const RefTensor *zeroPoint,
                const RefTensor &scale, int64_t axis, RefTensor &out);

} // namespace anec

#endif // ANEC_LIB_OPS_QUANTIZATION_H
