//===- Judge.h - verdicts on rules ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_JUDGE_H
#define ANEC_LIB_PROBE_JUDGE_H

#include "anec/Target/Rule.h"
#include "lib/Probe/Verdicts.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// A verdict on a rule; docs/use/ane.md lists them.
struct Judgement {
  RuleVerdict verdict;
  std::string why = ""; ///< why the verdict says nothing about the rule
};

/// Judges by the outcomes of the program that breaks the rule and of the one
/// that keeps it, as `runRuleProgram` returns them.
Judgement judge(const Rule &rule, const llvm::json::Object &breaking,
                const llvm::json::Object &keeping);

/// Judges a rule about speed by the times that `timeRulePrograms` returns: a
/// program is slower when it takes at least the threshold times as long, even
/// at the favorable end of the spread of both.
Judgement judgeTimes(const llvm::json::Object &times);

} // namespace anec

#endif // ANEC_LIB_PROBE_JUDGE_H
