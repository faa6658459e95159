//===- Loss.h - parameters of losses ----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_LOSS_H
#define ANEC_LIB_OPS_PARAMS_LOSS_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(dy, "dy", Value)
ANEC_PARAM(logits, "logits", Value)
ANEC_PARAM(targets, "targets", Value)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_LOSS_H
