//===- Arguments.h - inputs of a program from the command line -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--input NAME=SOURCE` and `--state NAME=SOURCE`, where SOURCE is a .npy
/// file, `random:SEED`, `zeros`, or `bytes:FILE`, the first bytes of any file
/// as numbers.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_ARGUMENTS_H
#define ANEC_TOOLS_ANE_RUN_ARGUMENTS_H

#include "anec/MIL/Reader.h"
#include "anec/Runtime/Backend.h"

namespace anec {

/// What a program is run on: an array for every input and every state, in order
/// and in the ports' types.
struct Arrays {
  std::vector<ConstantRef> inputs, states;
};
/// Nothing, with the reason reported, if any cannot be had. An input without an
/// argument is taken as `fallback` says; an empty `fallback` makes it an error.
/// A state without one is zeros.
std::optional<Arrays> readArrays(const Executable &executable,
                                 llvm::ArrayRef<std::string> inputs,
                                 llvm::ArrayRef<std::string> states,
                                 llvm::StringRef fallback, Diagnostics &diags);

/// The arrays for `ports`, which are `kind`s, "input" or "state", as above.
std::optional<std::vector<ConstantRef>>
readPorts(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
          llvm::ArrayRef<std::string> arguments, llvm::StringRef fallback,
          Diagnostics &diags);

/// Adds the shapes of .npy files among the arguments of `--input`, as hints.
void appendShapesOfFiles(llvm::ArrayRef<std::string> arguments,
                         std::vector<InputShape> &shapes);

/// The arrays of a program's inputs and outputs.
class RunBuffers {
public:
  RunBuffers(Executable &executable, const Arrays &given);
  bool run(Executable &executable, Diagnostics &diags);
  /// What the last run gave, and what it left in the states, copied.
  std::vector<ConstantRef> outputs(Executable &executable) const;

private:
  std::vector<ConstantRef> inputs;
  std::vector<std::vector<uint8_t>> results;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_ARGUMENTS_H
