//===- Arguments.h - inputs of a program from the command line -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--input NAME=SOURCE`, where SOURCE is a .npy file, `random:SEED`, `zeros`,
/// or `bytes:FILE`, the first bytes of any file as numbers.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_ARGUMENTS_H
#define ANEC_TOOLS_ANE_RUN_ARGUMENTS_H

#include "anec/Runtime/Backend.h"

namespace anec {

/// The value of every input of a program, in order and in the ports' types, or
/// nothing, with the reason reported. An input without an argument is taken as
/// `fallback` says; an empty `fallback` makes it an error.
std::optional<std::vector<ConstantRef>>
readInputs(llvm::ArrayRef<Port> ports, llvm::ArrayRef<std::string> arguments,
           llvm::StringRef fallback, Diagnostics &diags);

/// The arrays of a program's inputs and outputs.
class RunBuffers {
public:
  RunBuffers(const Executable &executable, llvm::ArrayRef<ConstantRef> inputs);
  bool run(Executable &executable, Diagnostics &diags);
  /// What the last run gave, copied.
  std::vector<ConstantRef> outputs(const Executable &executable) const;

private:
  std::vector<ConstantRef> inputs;
  std::vector<std::vector<uint8_t>> results;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_ARGUMENTS_H
