//===- Recurrent.h - parameters of recurrent layers -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_RECURRENT_H
#define ANEC_LIB_OPS_PARAMS_RECURRENT_H

#include "lib/IR/ModeParam.h"

namespace anec {

/// The order in which a layer reads its steps.
ANEC_ENUM(RnnDirection, (Forward, "forward"), (Reverse, "reverse"),
          (Bidirectional, "bidirectional"))

/// The activation of a gate. ScaledTanh is 1.7159 tanh(2/3 x), and SigmoidHard
/// clamps 0.2 x + 0.5 to [0, 1].
ANEC_ENUM(GateActivation, (Linear, "linear"), (Relu, "relu"),
          (ScaledTanh, "scaled_tanh"), (Sigmoid, "sigmoid"),
          (SigmoidHard, "sigmoid_hard"), (Tanh, "tanh"))

namespace param {

ANEC_MODE(activation, "activation", GateActivation)
ANEC_PARAM(biasBack, "bias_back", Value)
ANEC_MODE(cellActivation, "cell_activation", GateActivation)
ANEC_PARAM(clip, "clip", Float)
ANEC_MODE(direction, "direction", RnnDirection)
ANEC_PARAM(initialC, "initial_c", Value)
ANEC_PARAM(initialH, "initial_h", Value)
ANEC_PARAM(inputBias, "input_bias", Value)
ANEC_PARAM(outputSequence, "output_sequence", Bool)
ANEC_PARAM(peephole, "peephole", Value)
ANEC_PARAM(peepholeBack, "peephole_back", Value)
ANEC_MODE(recurrentActivation, "recurrent_activation", GateActivation)
ANEC_PARAM(resetAfter, "reset_after", Bool)
ANEC_PARAM(weightHh, "weight_hh", Value)
ANEC_PARAM(weightHhBack, "weight_hh_back", Value)
ANEC_PARAM(weightIh, "weight_ih", Value)
ANEC_PARAM(weightIhBack, "weight_ih_back", Value)

} // namespace param
} // namespace anec

#endif // ANEC_LIB_OPS_PARAMS_RECURRENT_H
