//===- RuleProgram.h - programs that break and keep rules -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TARGET_RULEPROGRAM_H
#define ANEC_LIB_TARGET_RULEPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace anec {

/// A file RULE.KIND.mil of lib/Target/RulePrograms, compiled into the program.
struct RuleProgram {
  const char *rule;
  const char *kind; ///< `bad` breaks the rule, `good` keeps it
  const char *text; ///< MIL
};
llvm::ArrayRef<RuleProgram> allRulePrograms();
/// Null when there is none.
const RuleProgram *findRuleProgram(llvm::StringRef rule, llvm::StringRef kind);

} // namespace anec

#endif // ANEC_LIB_TARGET_RULEPROGRAM_H
