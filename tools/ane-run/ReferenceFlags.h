//===- ReferenceFlags.h - flags for a model to compare with -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_REFERENCEFLAGS_H
#define ANEC_TOOLS_ANE_RUN_REFERENCEFLAGS_H

#include "../DefineFlag.h"
#include "ProgramFlags.h"
#include "lib/Driver/Reference.h"

namespace anec {

struct ReferenceFlags {
  llvm::cl::opt<std::string> file{
      "reference", llvm::cl::value_desc("FILE"),
      llvm::cl::desc(
          "With --compare, the model that the program was made of: .onnx, "
          ".pt2, .mlpackage, .mlmodelc, .mil, .ir or .tdsl; the program's "
          "outputs "
          "are compared with its (default: the program itself)")};
  DefineFlag defines;

  bool isGiven() const { return file.getNumOccurrences(); }
  /// The error in the flags; empty when they are valid.
  std::string check() const;
  /// Reads the model for a run of `program` with `inputs`. Where the model says
  /// no shape of an input, it has that of the program. Weights of a .tdsl
  /// program are those of `weights`. Returns nothing, with the reason reported,
  /// on failure.
  [[nodiscard]] std::optional<LoadedReference>
  load(const LoadedProgram &program, const ProgramFlags &flags,
       llvm::ArrayRef<std::string> inputs, const WeightOptions &weights,
       Diagnostics &diags) const;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_REFERENCEFLAGS_H
