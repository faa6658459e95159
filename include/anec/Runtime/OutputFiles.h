//===- OutputFiles.h - writes the outputs of programs -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_OUTPUTFILES_H
#define ANEC_RUNTIME_OUTPUTFILES_H

#include "anec/Package/ModelFacts.h"
#include "anec/Runtime/Backend.h"
#include "anec/Runtime/Session.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace anec {

/// Writes arrays to `folder`/NAME.npy, all of them or none. Where two names
/// differ only in case, the second file is NAME-2.npy, with a warning.
[[nodiscard]] bool writeOutputs(llvm::ArrayRef<Port> ports,
                                llvm::ArrayRef<ConstantRef> values,
                                llvm::StringRef folder, Diagnostics &diags);

/// Writes arrays, such as gradients, to a .safetensors file, or to a folder of
/// .npy files if `path` has another ending: all arrays or, on an error, none. A
/// .safetensors file also has the `facts` of the model.
[[nodiscard]] bool writeArrays(llvm::ArrayRef<NamedFloats> arrays,
                               const ModelFacts &facts, llvm::StringRef path,
                               Diagnostics &diags);

/// Prints type, smallest and largest element, and mean of an array on one line.
void printSummary(const Port &port, const Constant &value,
                  llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_RUNTIME_OUTPUTFILES_H
