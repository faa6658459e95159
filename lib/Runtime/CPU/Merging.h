//===- Merging.h - ops that are part of the one before them --------*- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A batch_norm of constants multiplies each channel by a number and adds one.
/// After a convolution, both are part of its weight and its bias. Constants
/// that are added to the rows of a product are its bias.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_MERGING_H
#define ANEC_LIB_RUNTIME_CPU_MERGING_H

#include "Schedule.h"
#include "anec/Support/AlignedArray.h"

namespace anec::cpu {

/// Whether `op` is a batch_norm that can be part of the convolution before it:
/// nothing else reads that, its result is not rounded, all parameters are
/// constants, and the weight is not stored in fewer bytes than fp32 has.
bool isNormOfConv(const Op &op, const Schedule &schedule, Numerics numerics);

/// The same for an addition of a row of constants after a matmul with a
/// constant right operand.
bool isBiasOfMatmul(const Op &op, const Schedule &schedule, Numerics numerics);
/// The row of such an addition, and what it is added to.
const Value *biasOf(const Op &op);
const Value *summandOf(const Op &op);

/// The parameters of a convolution and the norm after it.
struct FoldedConv {
  FoldedConv(const Op &conv, const Op &norm, const Schedule &schedule);

  AlignedArray weights, biases;
  size_t count; ///< of both
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_MERGING_H
