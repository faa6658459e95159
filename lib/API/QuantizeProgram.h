//===- QuantizeProgram.h - quantized weights of a program -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_QUANTIZEPROGRAM_H
#define ANEC_LIB_API_QUANTIZEPROGRAM_H

#include "anec/API/Compile.h"

namespace anec {

/// The names of the weights of a program, sorted.
std::vector<std::string> namesOfWeights(const Module &module);

/// Adds the initial distribution of each weight of `function`: its first use
/// decides it, which lowering and quantizing change. Known names stay.
void addInitialValues(const Function &function,
                      llvm::StringMap<InitialValue> &values);

/// Quantizes the weights of the products of `program`. Returns false, with the
/// reason reported, on failure.
[[nodiscard]] bool quantizeProgram(CompiledProgram &program,
                                   const CompileOptions &options,
                                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_API_QUANTIZEPROGRAM_H
