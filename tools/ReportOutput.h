//===- ReportOutput.h - what people see of a report ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_REPORTOUTPUT_H
#define ANEC_TOOLS_REPORTOUTPUT_H

#include "anec/IR/IR.h"

namespace llvm {
class raw_ostream;
namespace json {
class OStream;
}
} // namespace llvm

namespace anec {

/// The signature of `function`, which has a MIL program's `version`, and what
/// it is made of.
void printReport(const Function &function, llvm::StringRef version,
                 llvm::raw_ostream &out);
/// The same as one JSON object.
void printReport(const Function &function, llvm::StringRef version,
                 llvm::json::OStream &json);

} // namespace anec

#endif // ANEC_TOOLS_REPORTOUTPUT_H
