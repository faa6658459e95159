//===- Indices.h - parameters of gathering, scattering and sorting *- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_INDICES_H
#define ANEC_LIB_OPS_PARAMS_INDICES_H

#include "lib/IR/ModeParam.h"

namespace anec {

/// What a scatter makes of an element and of its update.
ANEC_ENUM(ScatterMode, (Add, "add"), (Div, "div"), (Max, "max"), (Min, "min"),
          (Mul, "mul"), (Sub, "sub"), (Update, "update"))

namespace param {

ANEC_PARAM(ascending, "ascending", Bool)
ANEC_PARAM(batchDims, "batch_dims", Int)
ANEC_PARAM(exclusive, "exclusive", Bool)
ANEC_PARAM(topK, "k", Int)
ANEC_MODE(scatterMode, "mode", ScatterMode)
ANEC_PARAM(table, "table", Value)
ANEC_PARAM(updates, "updates", Value)
ANEC_PARAM(validateIndices, "validate_indices", Bool)

} // namespace param
} // namespace anec

#endif // ANEC_LIB_OPS_PARAMS_INDICES_H
