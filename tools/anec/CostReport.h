//===- CostReport.h - what people see of predictions -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COSTREPORT_H
#define ANEC_TOOLS_ANEC_COSTREPORT_H

#include "anec/IR/IR.h"
#include "anec/Target/Predict.h"

namespace llvm {
class raw_ostream;
namespace json {
class OStream;
}
} // namespace llvm

namespace anec {

/// The programs of `module`, each run once, and their sum.
void printCost(const Module &module, const Target &target,
               llvm::raw_ostream &out);
/// The same as the attribute `predicted` of a JSON object.
void printCost(const Module &module, const Target &target,
               llvm::json::OStream &json);
/// The same as a page that needs no other file, with the graph of each program.
void printCostPage(const Module &module, const Target &target,
                   llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COSTREPORT_H
