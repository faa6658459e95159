//===- Slice.h - parameters of slices ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_SLICE_H
#define ANEC_LIB_OPS_PARAMS_SLICE_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(beginValue, "begin", Value)
ANEC_PARAM(beginMask, "begin_mask", Bools)
ANEC_PARAM(end, "end", Ints)
ANEC_PARAM(endMask, "end_mask", Bools)
ANEC_PARAM(squeezeMask, "squeeze_mask", Bools)
ANEC_PARAM(stride, "stride", Ints)
ANEC_PARAM(update, "update", Value)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_SLICE_H
