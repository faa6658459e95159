//===- Rules.cpp - the table of rules -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Rule.h"
#include "llvm/Support/ErrorHandling.h"

using namespace anec;

static constexpr const Rule *ruleTable[] = {
#define RULE(NAME) &rules::NAME,
#include "anec/Target/Rules.def"
};

llvm::ArrayRef<const Rule *> anec::allRules() { return ruleTable; }

const Rule *anec::findRule(llvm::StringRef id) {
  for (const Rule *rule : allRules())
    if (rule->id == id)
      return rule;
  return nullptr;
}

llvm::StringRef anec::spelling(Rewrite rewrite) {
  switch (rewrite) {
  case Rewrite::None:
    return "";
#define OP_REWRITE(NAME, FUNCTION, SPELLING)                                   \
  case Rewrite::NAME:                                                          \
    return SPELLING;
#define PASS_REWRITE(NAME, SPELLING)                                           \
  case Rewrite::NAME:                                                          \
    return SPELLING;
#define OTHER_REWRITE(NAME, SPELLING)                                          \
  case Rewrite::NAME:                                                          \
    return SPELLING;
#include "anec/Target/Rewrites.def"
  }
  llvm_unreachable("all rewrites handled");
}
