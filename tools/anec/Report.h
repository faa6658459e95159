//===- Report.h - --emit=report and --emit=json -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_REPORT_H
#define ANEC_TOOLS_ANEC_REPORT_H

#include "CompileRequest.h"

namespace anec {

/// Writes what the functions of a compiled program are made of.
bool reportProgram(const Module &module, const CompileRequest &request,
                   Diagnostics &diags);
/// Writes what a run of a package costs; on the target it was made for, unless
/// another is asked for.
bool reportPackage(const ModelPackage &package, const CompileRequest &request,
                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_REPORT_H
