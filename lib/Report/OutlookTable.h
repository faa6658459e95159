//===- OutlookTable.h - what chips make of programs, printed ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_OUTLOOKTABLE_H
#define ANEC_LIB_REPORT_OUTLOOKTABLE_H

#include "anec/Target/Outlook.h"
#include "llvm/Support/raw_ostream.h"

namespace anec {

/// Prints a table with a row for each file and chip: whether the chip takes the
/// programs, and the predicted time.
void printOutlooks(llvm::ArrayRef<Outlook> outlooks, bool colors,
                   llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_OUTLOOKTABLE_H
