//===- Attention.h - parameters of attention --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_ATTENTION_H
#define ANEC_LIB_OPS_PARAMS_ATTENTION_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(attnMask, "attn_mask", Value)
ANEC_PARAM(causal, "causal", Bool)
ANEC_PARAM(k, "k", Value)
ANEC_PARAM(key, "key", Value)
ANEC_PARAM(q, "q", Value)
ANEC_PARAM(query, "query", Value)
ANEC_PARAM(scoreScale, "scale", Float)
ANEC_PARAM(softcap, "softcap", Float)
ANEC_PARAM(v, "v", Value)
ANEC_PARAM(window, "window", Int)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_ATTENTION_H
