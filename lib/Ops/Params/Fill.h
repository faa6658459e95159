//===- Fill.h - parameters of filling and drawing ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_FILL_H
#define ANEC_LIB_OPS_PARAMS_FILL_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(rangeEnd, "end", Float)
ANEC_PARAM(keep, "keep", Float)
ANEC_PARAM(lower, "lower", Int)
ANEC_PARAM(rate, "rate", Float)
ANEC_PARAM(start, "start", Float)
ANEC_PARAM(step, "step", Float)
ANEC_PARAM(upper, "upper", Int)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_FILL_H
