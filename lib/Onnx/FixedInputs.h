//===- FixedInputs.h - inputs whose values decide shapes --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_FIXEDINPUTS_H
#define ANEC_LIB_ONNX_FIXEDINPUTS_H

#include "anec/IR/SourceWeights.h"
#include "lib/IR/ParametersOf.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace anec::onnx {

/// The inputs whose values are read now, since shapes depend on them.
struct FixedInputs {
  /// All values that are at hand, by the input's name.
  llvm::StringMap<ConstantRef> given;
  /// Those that are used; the model is read again when one is added.
  llvm::StringSet<> fixed;
  bool changed = false;
};

/// The inputs that a value is computed from.
class InputsOf {
public:
  explicit InputsOf(Value *value) : parameters(parametersOf(value)) {}

  bool empty() const { return parameters.empty(); }
  /// Whether all of them are at hand.
  bool areGiven(const FixedInputs &inputs) const;
  /// "`x`, `y`".
  std::string names() const { return namesOf(parameters); }
  /// Uses the values of all.
  void fix(FixedInputs &inputs) const;

private:
  llvm::SetVector<Value *> parameters;
};

/// Keeps the weights that a value is computed from constants, so that it is
/// known when the model is read again. Returns whether there is one.
bool keepWeightsOf(Value *value, SourceWeights *weights,
                   bool isParameter = true);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_FIXEDINPUTS_H
