//===- PassOutput.h - what people see of the passes ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_PASSOUTPUT_H
#define ANEC_TOOLS_ANEC_PASSOUTPUT_H

#include "anec/Passes/PassManager.h"

namespace anec {

void printAfterPass(const PassDef &pass, const Function &function,
                    llvm::raw_ostream &out);
/// A line per counter that is not zero.
void printStats(llvm::ArrayRef<PassReport> reports, llvm::raw_ostream &out);
/// A line per pass in pipeline order, with its share, and the total.
void printTimes(llvm::ArrayRef<PassReport> reports, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_PASSOUTPUT_H
