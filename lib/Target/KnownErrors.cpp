//===- KnownErrors.cpp - the table of known errors ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/KnownError.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static constexpr const KnownError *knownErrorTable[] = {
#define KNOWN_ERROR(NAME) &errors::NAME,
#include "anec/Target/KnownErrors.def"
};

llvm::ArrayRef<const KnownError *> anec::allKnownErrors() {
  return knownErrorTable;
}

const KnownError *anec::findKnownError(llvm::StringRef id) {
  for (const KnownError *error : allKnownErrors())
    if (error->id == id)
      return error;
  return nullptr;
}

bool KnownError::isCausedBy(const Rule &rule) const {
  if (llvm::is_contained(rules, &rule))
    return true;
  return (rule.impact == Impact::Error || rule.impact == Impact::Warning) &&
         llvm::is_contained(ruleFamilies, rule.family);
}

std::vector<const Rule *> anec::rulesOf(const KnownError &error) {
  std::vector<const Rule *> rules;
  for (const Rule *rule : error.rules)
    if (rule)
      rules.push_back(rule);
  for (const Rule *rule : allRules())
    if (error.isCausedBy(*rule) && !llvm::is_contained(rules, rule))
      rules.push_back(rule);
  return rules;
}
