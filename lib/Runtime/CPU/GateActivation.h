//===- GateActivation.h - activations of recurrent layers -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_GATEACTIVATION_H
#define ANEC_LIB_RUNTIME_CPU_GATEACTIVATION_H

#include "lib/Runtime/CPU/VectorKernels.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec::cpu {

/// An activation of a gate.
class Activation {
public:
  explicit Activation(llvm::StringRef name) : name(name) {}

  /// In place, in fp32.
  void apply(size_t n, float *x) const {
    auto with = [&](Unary kind, float p = 0, float q = 0) {
      unary(kind, n, x, x, Rounding::None, p, q);
    };
    if (name == "sigmoid")
      return with(Unary::Sigmoid);
    if (name == "relu")
      return with(Unary::Relu);
    if (name == "sigmoid_hard") {
      with(Unary::Affine, 0.2f, 0.5f);
      return with(Unary::Clip, 0, 1);
    }
    if (name == "scaled_tanh")
      with(Unary::Affine, 2.0f / 3.0f);
    if (name == "tanh" || name == "scaled_tanh")
      with(Unary::Tanh);
    if (name == "scaled_tanh")
      with(Unary::Affine, 1.7159f);
  }

private:
  std::string name;
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_GATEACTIVATION_H
