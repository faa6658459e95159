//===- RecordedReport.h - what dumps have recorded --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_RECORDEDREPORT_H
#define ANEC_LIB_REPORT_RECORDEDREPORT_H

#include "RuleParagraph.h"
#include "lib/Report/FindingReport.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// Adds a remark about the ops that Core ML's compiler did not support on the
/// engine, and that break no rule, by description. Returns their number.
size_t addPlacements(const CheckResult &result,
                     std::vector<RuleParagraph> &paragraphs);
/// Prints the number of ops by backend, and the sums of the estimates; nothing
/// for programs that are no dumps.
void printPlacements(const CheckResult &result, llvm::raw_ostream &out);
/// Writes an object: the op, its place, and what is recorded of it.
void writePlacement(const RecordedPlacement &placement,
                    const Diagnostics &diags, llvm::json::OStream &json);

} // namespace anec

#endif // ANEC_LIB_REPORT_RECORDEDREPORT_H
