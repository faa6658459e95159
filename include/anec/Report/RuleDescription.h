//===- RuleDescription.h - a rule as text -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_REPORT_RULEDESCRIPTION_H
#define ANEC_REPORT_RULEDESCRIPTION_H

#include "anec/Target/Rule.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// Prints `rule`: its chips, macOS versions, source, confidence, contradicting
/// evidence, and what to write instead.
void printRule(const Rule &rule, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_REPORT_RULEDESCRIPTION_H
