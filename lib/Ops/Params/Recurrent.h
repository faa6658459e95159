//===- Recurrent.h - parameters of recurrent layers -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_RECURRENT_H
#define ANEC_LIB_OPS_PARAMS_RECURRENT_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(activation, "activation", String)
ANEC_PARAM(biasBack, "bias_back", Value)
ANEC_PARAM(cellActivation, "cell_activation", String)
ANEC_PARAM(clip, "clip", Float)
ANEC_PARAM(direction, "direction", String)
ANEC_PARAM(initialC, "initial_c", Value)
ANEC_PARAM(initialH, "initial_h", Value)
ANEC_PARAM(inputBias, "input_bias", Value)
ANEC_PARAM(outputSequence, "output_sequence", Bool)
ANEC_PARAM(peephole, "peephole", Value)
ANEC_PARAM(peepholeBack, "peephole_back", Value)
ANEC_PARAM(recurrentActivation, "recurrent_activation", String)
ANEC_PARAM(resetAfter, "reset_after", Bool)
ANEC_PARAM(weightHh, "weight_hh", Value)
ANEC_PARAM(weightHhBack, "weight_hh_back", Value)
ANEC_PARAM(weightIh, "weight_ih", Value)
ANEC_PARAM(weightIhBack, "weight_ih_back", Value)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_RECURRENT_H
