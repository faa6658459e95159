//===- SourceReference.h - a program beside its source ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Evaluates the model that a program was made of, on the inputs of a run of
/// the program. Inputs, states and outputs belong together by their names, in
/// any spelling that writing them as MIL can give them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SOURCEREFERENCE_H
#define ANEC_LIB_RUNTIME_SOURCEREFERENCE_H

#include "lib/Runtime/InputArrays.h"

namespace anec {

/// A model to compare with.
struct SourceReference {
  const Function *function = nullptr; ///< all of its weights have values
  std::string file;                   ///< for messages
};

/// What a program was run on.
struct RunInputs {
  llvm::ArrayRef<Port> inputs, states;
  const ProgramArrays &arrays;
  /// Arguments NAME=SOURCE for the inputs, which the model reads in its own
  /// types.
  llvm::ArrayRef<std::string> arguments;
  const FunctionDescription *description = nullptr;
};

/// Evaluates `reference` in double precision. Returns the elements of
/// `results`, which are the outputs of the program and then its states;
/// nothing, with the reason reported, when inputs, states or outputs are not
/// those of the program, or when the model cannot be evaluated.
[[nodiscard]] std::optional<std::vector<std::vector<double>>>
evaluateSource(const SourceReference &reference, const RunInputs &run,
               llvm::ArrayRef<Port> results, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_SOURCEREFERENCE_H
