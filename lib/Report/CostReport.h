//===- CostReport.h - predicted costs as text and JSON ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_COSTREPORT_H
#define ANEC_LIB_REPORT_COSTREPORT_H

#include "anec/Target/Predict.h"

namespace llvm {
class raw_ostream;
namespace json {
class OStream;
}
} // namespace llvm

namespace anec {

/// The programs that `runs` consist of, each once, in the order in which they
/// first occur. They point into `runs`.
std::vector<const RunCost::Program *>
distinctPrograms(llvm::ArrayRef<RunCost> runs);

/// Prints the predicted cost of `runs` on `target`, of each program in them,
/// and the figures that the predictions follow from with their sources.
void printCost(llvm::ArrayRef<RunCost> runs, const Target &target,
               llvm::raw_ostream &out);
/// Writes the same as the attribute `predicted` of the JSON object that `json`
/// is in.
void printCost(llvm::ArrayRef<RunCost> runs, const Target &target,
               llvm::json::OStream &json);

} // namespace anec

#endif // ANEC_LIB_REPORT_COSTREPORT_H
