//===- HiddenScore.h - the mask value of attention -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_OPS_HIDDENSCORE_H
#define ANEC_OPS_HIDDENSCORE_H

#include "anec/IR/DType.h"

namespace anec {

/// The mask value of a key that a query does not see. In fp16, it stays within
/// the type when it is added to a score (-inf could make the softmax NaN), and
/// its exponential is 0 as long as scores of a row differ by less than 29,000.
inline double hiddenScore(DType dtype) {
  return dtype == DType::FP16 ? -3e4 : -1e30;
}

} // namespace anec

#endif // ANEC_OPS_HIDDENSCORE_H
