//===- Interpreter.h - the double-precision reference ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a function op by op through the rows' `eval`: what every backend and
/// every pass is compared with. Host functions run with all that they apply.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_OPS_INTERPRETER_H
#define ANEC_OPS_INTERPRETER_H

#include "anec/IR/Elements.h"
#include "anec/IR/OpDef.h"
#include <functional>
#include <optional>

namespace anec {

struct InterpreterOptions {
  /// Rounds every result to its declared element type. Without, floats stay
  /// doubles: the exact value that finite precision is compared with.
  bool roundToDType = false;
  /// Changes every float that an op gives: to see how far results turn on
  /// what finite precision does.
  std::function<double(double)> disturb;
  /// The elements of a `weight` op, row-major in the op's result shape, for the
  /// instance of its layer that is being applied (none outside of repeated
  /// layers). Without, they are drawn from the name and the instance alone (see
  /// randomWeight).
  std::function<std::vector<double>(const Op &weight,
                                    std::optional<int64_t> instance)>
      weights;
  /// What an `accumulate` op adds to the gradient of its weight.
  std::function<void(const Op &accumulate, std::optional<int64_t> instance,
                     const RefTensor &value)>
      accumulate;
};

/// Evaluates `function` on `inputs`, one per parameter with as many elements: a
/// state is what it holds before. What states hold afterwards goes to `states`,
/// in the order of the parameters. False, with a diagnostic, when it has an op
/// without a reference.
bool interpret(const Function &function, llvm::ArrayRef<RefTensor> inputs,
               std::vector<RefTensor> &outputs, Diagnostics &diags,
               const InterpreterOptions &options = {},
               std::vector<RefTensor> *states = nullptr);

/// The same for a function of `module`, which may be a host function: `call`
/// and `repeat` apply functions of the module, which `verifyCalls` accepted.
bool interpretModule(const Module &module, const Function &function,
                     llvm::ArrayRef<RefTensor> inputs,
                     std::vector<RefTensor> &outputs, Diagnostics &diags,
                     const InterpreterOptions &options = {});

/// Standard-normal-like elements scaled by 1/sqrt(count of the last axes), the
/// same for a weight however it is reshaped or transposed.
std::vector<double> randomWeight(const Op &weight,
                                 std::optional<int64_t> instance = {});

/// Elements for an input of `type`: floats normal, integers and booleans 0/1.
RefTensor randomTensor(const TensorType &type, uint64_t seed);

/// The norm of `lhs - rhs` relative to that of `rhs`; infinite when exactly one
/// of them has a non-finite element at some place.
double relativeError(llvm::ArrayRef<double> lhs, llvm::ArrayRef<double> rhs);

} // namespace anec

#endif // ANEC_OPS_INTERPRETER_H
