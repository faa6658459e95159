//===- CheckOutput.h - what people see of findings --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_CHECKOUTPUT_H
#define ANEC_TOOLS_ANEC_CHECKOUTPUT_H

#include "anec/Target/Check.h"
#include "anec/Target/Target.h"

namespace anec {

/// Prints `findings` among what was said when the programs were read, which is
/// in `diags`, and counts them.
void printText(llvm::ArrayRef<Finding> findings, const Target &target,
               const Assumptions &assumptions, llvm::raw_ostream &out,
               Diagnostics &diags);
void printJson(llvm::ArrayRef<Finding> findings, const Target &target,
               const Assumptions &assumptions, llvm::raw_ostream &out,
               const Diagnostics &diags);
/// SARIF 2.1.0, which code review shows.
void printSarif(llvm::ArrayRef<Finding> findings,
                const Assumptions &assumptions, llvm::raw_ostream &out,
                const Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_CHECKOUTPUT_H
