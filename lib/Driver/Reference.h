//===- Reference.h - the model that a program was made of -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_DRIVER_REFERENCE_H
#define ANEC_LIB_DRIVER_REFERENCE_H

#include "anec/API/Compile.h"
#include "lib/Runtime/SourceReference.h"

namespace anec {

/// The model that a program was made of, ready to be evaluated.
struct LoadedReference {
  std::unique_ptr<Module> module;
  SourceReference source;
};

/// Reads the model `file` for a run of `program` with `inputs`, arguments
/// NAME=SOURCE. `options` have the shapes and values of inputs, the weights and
/// the overrides of a .tdsl program; where they and the model say no shape of
/// an input, it has that of the program. Of several functions, `function` is
/// taken. Returns nothing, with the reason reported, on failure.
[[nodiscard]] std::optional<LoadedReference>
loadReference(llvm::StringRef file, CompileOptions options,
              llvm::StringRef function, const Function &program,
              llvm::ArrayRef<std::string> inputs, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_DRIVER_REFERENCE_H
