//===- PassStatistics.h - counters and times of passes ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_PASSSTATISTICS_H
#define ANEC_LIB_REPORT_PASSSTATISTICS_H

#include "anec/Passes/PassManager.h"

namespace anec {

/// Prints the IR of `function` under a comment that names `pass`, which ran
/// just before.
void printAfterPass(const PassDef &pass, const Function &function,
                    llvm::raw_ostream &out);
/// Prints a line for each counter that is not zero.
void printPassCounts(llvm::ArrayRef<PassReport> reports,
                     llvm::raw_ostream &out);
/// Prints a line for each pass in pipeline order, with its measured time and
/// share, and a line with the total.
void printPassTimes(llvm::ArrayRef<PassReport> reports, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_PASSSTATISTICS_H
