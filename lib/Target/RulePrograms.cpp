//===- RulePrograms.cpp - programs that break and keep rules --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Target/RuleProgram.h"

using namespace anec;

static constexpr RuleProgram programs[] = {
#include "RulePrograms.inc"
};

llvm::ArrayRef<RuleProgram> anec::allRulePrograms() { return programs; }

const RuleProgram *anec::findRuleProgram(llvm::StringRef rule,
                                         llvm::StringRef kind) {
  for (const RuleProgram &program : programs)
    if (rule == program.rule && kind == program.kind)
      return &program;
  return nullptr;
}
