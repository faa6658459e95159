//===- CostReport.h - what people see of predictions -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COSTREPORT_H
#define ANEC_TOOLS_ANEC_COSTREPORT_H

#include "anec/Target/Predict.h"

namespace llvm {
class raw_ostream;
namespace json {
class OStream;
}
} // namespace llvm

namespace anec {

/// The programs of `runs`, each once, in the order they are met in.
std::vector<const RunCost::Program *>
distinctPrograms(llvm::ArrayRef<RunCost> runs);

/// What `runs` cost, and each of their programs.
void printCost(llvm::ArrayRef<RunCost> runs, const Target &target,
               llvm::raw_ostream &out);
/// The same as the attribute `predicted` of a JSON object.
void printCost(llvm::ArrayRef<RunCost> runs, const Target &target,
               llvm::json::OStream &json);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COSTREPORT_H
