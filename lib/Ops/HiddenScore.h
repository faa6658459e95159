//===- HiddenScore.h - the mask value of attention -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_HIDDENSCORE_H
#define ANEC_LIB_OPS_HIDDENSCORE_H

#include "anec/IR/DType.h"
#include <cfloat>

namespace anec {

/// The score of a key that a query does not see: the lowest finite number,
/// since the softmax of a row of -inf is NaN. A mask is an upper bound of the
/// scores, `shownScore` where a key is seen. A number that is added instead
/// would have to leave room for the score in fp16, and hide only scores that
/// exceed others by less than that.
inline double hiddenScore(DType dtype) {
  return dtype == DType::FP16 ? -65504 : -double(FLT_MAX);
}
inline double shownScore(DType dtype) { return -hiddenScore(dtype); }

} // namespace anec

#endif // ANEC_LIB_OPS_HIDDENSCORE_H
