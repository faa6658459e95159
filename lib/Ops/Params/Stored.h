//===- Stored.h - parameters of stored arrays -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_STORED_H
#define ANEC_LIB_OPS_PARAMS_STORED_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(frozen, "frozen", Bool)
ANEC_PARAM(view, "view", String)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_STORED_H
