//===- ProbeJudge.h - what programs say of a rule --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_PROBEJUDGE_H
#define ANEC_TOOLS_ANE_RUN_PROBEJUDGE_H

#include "anec/Target/Rule.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// What is found of a rule: docs/ane.md has the list.
struct Judgement {
  llvm::StringLiteral verdict;
  std::string why = ""; ///< of those that say nothing of the rule
};

/// Judges by what came of the program that breaks the rule, and of the one that
/// keeps it, as `probeOne` prints them.
Judgement judge(const Rule &rule, const llvm::json::Object &breaking,
                const llvm::json::Object &keeping);

/// Judges a rule about speed by what `probeTimes` prints: a program is slower
/// when it takes as many times as long as the threshold, even where the spread
/// of both is against that.
Judgement judgeTimes(const llvm::json::Object &times);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROBEJUDGE_H
