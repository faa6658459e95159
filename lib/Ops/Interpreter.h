//===- Interpreter.h - the double-precision reference -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a function op by op through the rows' `eval`. Results of all backends
/// and passes are compared with those of this interpreter. Host functions run
/// together with all functions that they apply.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_INTERPRETER_H
#define ANEC_LIB_OPS_INTERPRETER_H

#include "lib/IR/Elements.h"
#include "lib/IR/OpDef.h"
#include <functional>
#include <optional>

namespace anec {

struct InterpreterOptions {
  /// Rounds every result to its declared element type. Otherwise, floats remain
  /// doubles: the exact values that finite precision is compared with.
  bool roundToDType = false;
  /// Applied to every float result of an op, to measure how sensitive results
  /// are to finite precision.
  std::function<double(double)> disturb;
  /// Returns the elements of a `weight` op, row-major in the op's result shape,
  /// for an instance of the repeated layer that is being applied (nothing
  /// outside of repeated layers). By default, elements are drawn from the name
  /// and the instance (see randomWeight).
  std::function<std::vector<double>(const Op &weight,
                                    std::optional<int64_t> instance)>
      weights;
  /// Called for each `accumulate` op with the value it adds to the gradient of
  /// its weight.
  std::function<void(const Op &accumulate, std::optional<int64_t> instance,
                     const RefTensor &value)>
      accumulate;
};

/// Evaluates `function`. `inputs` has one tensor per parameter, with as many
/// elements as the parameter; that of a state is its initial value. The final
/// values of states go to `states`, in the order of the parameters. Returns
/// false, with a diagnostic, when an op has no reference evaluation.
[[nodiscard]] bool interpret(const Function &function,
                             llvm::ArrayRef<RefTensor> inputs,
                             std::vector<RefTensor> &outputs,
                             Diagnostics &diags,
                             const InterpreterOptions &options = {},
                             std::vector<RefTensor> *states = nullptr);

/// The same for a function of `module`, which can be a host function: `call`
/// and `repeat` apply functions of the module, which must have passed
/// `verifyCalls`.
[[nodiscard]] bool interpretModule(const Module &module,
                                   const Function &function,
                                   llvm::ArrayRef<RefTensor> inputs,
                                   std::vector<RefTensor> &outputs,
                                   Diagnostics &diags,
                                   const InterpreterOptions &options = {});

/// Random elements of a `weight` op, the same for a name and an instance
/// however the weight is reshaped or transposed: roughly normal, scaled by
/// 1/sqrt(elements per index of axis 0); vectors are near 1.
std::vector<double> randomWeight(const Op &weight,
                                 std::optional<int64_t> instance = {});

/// Random elements for an input of `type`: floats are roughly normal, integers
/// and booleans 0 or 1.
RefTensor randomTensor(const TensorType &type, uint64_t seed);

/// The norm of `lhs - rhs` relative to that of `rhs`; infinite when they differ
/// in a non-finite element.
double relativeError(llvm::ArrayRef<double> lhs, llvm::ArrayRef<double> rhs);

} // namespace anec

#endif // ANEC_LIB_OPS_INTERPRETER_H
