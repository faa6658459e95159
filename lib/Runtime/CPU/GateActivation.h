//===- GateActivation.h - activations of recurrent layers -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_GATEACTIVATION_H
#define ANEC_LIB_RUNTIME_CPU_GATEACTIVATION_H

#include "lib/Ops/Params/Recurrent.h"
#include "lib/Runtime/CPU/VectorKernels.h"

namespace anec::cpu {

/// An activation of a gate.
class Activation {
public:
  explicit Activation(GateActivation kind) : kind(kind) {}

  /// In place, in fp32.
  void apply(size_t n, float *x) const {
    auto with = [&](Unary kind, float p = 0, float q = 0) {
      unary(kind, n, x, x, Rounding::None, p, q);
    };
    switch (kind) {
    case GateActivation::Linear:
      return;
    case GateActivation::Relu:
      return with(Unary::Relu);
    case GateActivation::ScaledTanh:
      with(Unary::Affine, 2.0f / 3.0f);
      with(Unary::Tanh);
      return with(Unary::Affine, 1.7159f);
    case GateActivation::Sigmoid:
      return with(Unary::Sigmoid);
    case GateActivation::SigmoidHard:
      with(Unary::Affine, 0.2f, 0.5f);
      return with(Unary::Clip, 0, 1);
    case GateActivation::Tanh:
      return with(Unary::Tanh);
    }
  }

private:
  GateActivation kind;
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_GATEACTIVATION_H
