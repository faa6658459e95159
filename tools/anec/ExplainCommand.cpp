//===- ExplainCommand.cpp - anec explain RULE -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "anec/Report/RuleDescription.h"
#include "anec/Support/Suggestion.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Explain : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  cl::opt<std::string> id{cl::Positional};
};
} // namespace

ExitCode Explain::run(const Invocation &call) {
  if (id.empty())
    return call.usageError("explain takes a rule; docs/rules.md lists them");
  if (const Rule *rule = findRule(id)) {
    printRule(*rule, llvm::outs());
    return Done;
  }
  Suggestion suggestion(id);
  for (const Rule *rule : allRules())
    suggestion.consider(rule->id);
  llvm::StringRef meant = suggestion.found();
  return call.usageError("there is no rule `" + id + "`; " +
                         (meant.empty() ? "docs/rules.md lists them"
                                        : "did you mean `" + meant + "`?"));
}

constinit const CommandDef commands::Explain = {
    .name = "explain",
    .group = commands::rules,
    .summary = "Print a rule and its sources",
    .synopsis = "RULE",
    .examples = "  anec explain io-row-64\n",
    .make = makeCommand<::Explain>,
};
