//===- CostPage.h - predictions as a page ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COSTPAGE_H
#define ANEC_TOOLS_ANEC_COSTPAGE_H

#include "anec/Target/Predict.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// Prints `runs` of the program or package called `name` as HTML that needs no
/// other file: times, shapes, the graph of each program, and of `schedule` when
/// there is one.
void printCostPage(llvm::StringRef name, llvm::ArrayRef<RunCost> runs,
                   const Module *schedule, const Target &target,
                   llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COSTPAGE_H
