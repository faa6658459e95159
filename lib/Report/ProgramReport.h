//===- ProgramReport.h - the contents of a function -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_PROGRAMREPORT_H
#define ANEC_LIB_REPORT_PROGRAMREPORT_H

#include "anec/IR/IR.h"
#include "anec/MIL/ModelDescription.h"

namespace llvm {
class raw_ostream;
namespace json {
class OStream;
}
} // namespace llvm

namespace anec {

/// Prints the signature of `function`, the number of its ops by name, and the
/// bytes of its weights, inputs, outputs and values. `version` is the version
/// of its MIL program, as `1.3`.
void printReport(const Function &function, llvm::StringRef version,
                 llvm::raw_ostream &out);
/// Prints the functions, inputs, outputs and states as callers see them, and
/// who made the model; nothing when nothing is known.
void printDescription(const ModelDescription &description,
                      llvm::raw_ostream &out);
/// Writes the same as one JSON object. `description` may be null.
void printReport(const Function &function, llvm::StringRef version,
                 llvm::json::OStream &json,
                 const ModelDescription *description = nullptr);

} // namespace anec

#endif // ANEC_LIB_REPORT_PROGRAMREPORT_H
