//===- InputArrays.h - what a program is run on -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Arrays for the inputs and states of a program, from arguments NAME=SOURCE,
/// where SOURCE is a .npy file, `random:SEED`, `zeros`, `ones`, or
/// `bytes:FILE`, the first bytes of any file as numbers.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_INPUTARRAYS_H
#define ANEC_RUNTIME_INPUTARRAYS_H

#include "anec/MIL/Reader.h"
#include "anec/Runtime/Backend.h"

namespace anec {

/// An array for every input and every state of a program, in order and in the
/// ports' types.
struct ProgramArrays {
  std::vector<ConstantRef> inputs, states;
};
/// Reads the arrays; nothing, with the reason reported, when one cannot be. An
/// input without an argument is taken as `fallback` says; an empty `fallback`
/// makes it an error. A state without one is zeros.
[[nodiscard]] std::optional<ProgramArrays>
readArrays(const Executable &executable, llvm::ArrayRef<std::string> inputs,
           llvm::ArrayRef<std::string> states, llvm::StringRef fallback,
           Diagnostics &diags);

/// The arrays for `ports`, which are `kind`s, "input" or "state", as above.
[[nodiscard]] std::optional<std::vector<ConstantRef>>
readPorts(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
          llvm::ArrayRef<std::string> arguments, llvm::StringRef fallback,
          Diagnostics &diags);

/// Adds the shapes of .npy files among the arguments of `--input`, as hints.
void appendShapesOfFiles(llvm::ArrayRef<std::string> arguments,
                         std::vector<InputShape> &shapes);

} // namespace anec

#endif // ANEC_RUNTIME_INPUTARRAYS_H
