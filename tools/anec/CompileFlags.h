//===- CompileFlags.h - the flags of compiling ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COMPILEFLAGS_H
#define ANEC_TOOLS_ANEC_COMPILEFLAGS_H

#include "CompileRequest.h"

namespace anec {

class TargetFlags;

enum class DiagnosticsFormat { Text, Json };

/// What is wrong with the flags, whatever the input; empty when nothing is.
std::string checkCompileFlags();
/// Reads them; nothing, with the reason reported, when one has no meaning.
std::optional<CompileRequest> readCompileFlags(const Target &target,
                                               Diagnostics &diags);
/// How errors are to be printed.
DiagnosticsFormat chosenDiagnosticsFormat();
/// What --target and those beside it say.
TargetFlags &compileTargetFlags();

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COMPILEFLAGS_H
