//===- Indices.h - parameters of gathering, scattering and sorting *- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_INDICES_H
#define ANEC_LIB_OPS_PARAMS_INDICES_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(ascending, "ascending", Bool)
ANEC_PARAM(batchDims, "batch_dims", Int)
ANEC_PARAM(exclusive, "exclusive", Bool)
ANEC_PARAM(topK, "k", Int)
ANEC_PARAM(table, "table", Value)
ANEC_PARAM(updates, "updates", Value)
ANEC_PARAM(validateIndices, "validate_indices", Bool)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_INDICES_H
