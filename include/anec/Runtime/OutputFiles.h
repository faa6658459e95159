//===- OutputFiles.h - writes the outputs of programs -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_OUTPUTFILES_H
#define ANEC_RUNTIME_OUTPUTFILES_H

#include "anec/Runtime/Backend.h"
#include "anec/Runtime/Session.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace anec {

/// Writes arrays to `folder`/NAME.npy, all of them or none.
[[nodiscard]] bool writeOutputs(llvm::ArrayRef<Port> ports,
                                llvm::ArrayRef<ConstantRef> values,
                                llvm::StringRef folder, Diagnostics &diags);

/// Writes gradients to a .safetensors file, or to `path`/NAME.npy: all of them
/// or none.
[[nodiscard]] bool writeGradients(llvm::ArrayRef<NamedFloats> gradients,
                                  llvm::StringRef path, Diagnostics &diags);

/// Prints type, smallest and largest element, and mean of an array on one line.
void printSummary(const Port &port, const Constant &value,
                  llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_RUNTIME_OUTPUTFILES_H
