//===- Norm.h - parameters of norms -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_NORM_H
#define ANEC_LIB_OPS_PARAMS_NORM_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(gamma, "gamma", Value)
ANEC_PARAM(responseK, "k", Float)
ANEC_PARAM(mean, "mean", Value)
ANEC_PARAM(variance, "variance", Value)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_NORM_H
