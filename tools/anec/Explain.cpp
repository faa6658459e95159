//===- Explain.cpp - anec explain RULE ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "../ExitCode.h"
#include "Flags.h"
#include "anec/Report/RuleDescription.h"
#include "anec/Support/Suggestion.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

cl::SubCommand command("explain", "Print the story of a rule");
cl::opt<std::string> id(cl::Positional, cl::desc("RULE"), cl::sub(command),
                        cl::cat(anecCategory()));

} // namespace

void anec::hideFlagsInExplain() {
  cl::HideUnrelatedOptions(anecCategory(), command);
}

std::optional<int> anec::runExplainCommand() {
  if (!command)
    return std::nullopt;
  if (const Rule *rule = findRule(id)) {
    printRule(*rule, llvm::outs());
    return Done;
  }
  if (id.empty())
    return usageError("anec", "explain takes a rule; docs/rules.md has them");
  Suggestion suggestion(id);
  for (const Rule *rule : allRules())
    suggestion.consider(rule->id);
  llvm::StringRef meant = suggestion.found();
  return usageError("anec",
                    "there is no rule `" + id + "`; " +
                        (meant.empty() ? "docs/rules.md has them"
                                       : "did you mean `" + meant + "`?"));
}
