//===- CostPage.h - predicted costs as an HTML page -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_COSTPAGE_H
#define ANEC_LIB_REPORT_COSTPAGE_H

#include "anec/Target/Predict.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// Prints the predicted cost of `runs` as an HTML page that needs no other
/// file: times, operations by shape and by depth, and the graph of each
/// program. `name` is the title. `schedule` is the module with the host
/// functions that are run, whose graphs are drawn too; null for a single
/// program.
void printCostPage(llvm::StringRef name, llvm::ArrayRef<RunCost> runs,
                   const Module *schedule, const Target &target,
                   llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_COSTPAGE_H
