//===- Sequences.h - parameters of sequences --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_SEQUENCES_H
#define ANEC_LIB_OPS_PARAMS_SEQUENCES_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(batchAxis, "batch_axis", Int)
ANEC_PARAM(lengths, "lengths", Value)
ANEC_PARAM(seqAxis, "seq_axis", Int)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_SEQUENCES_H
