//===- PassesPage.cpp - docs/reference/passes.md, from the passes --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pages.h"
#include "anec/Passes/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace anec;

void anec::printPassesPage(llvm::raw_ostream &out) {
  out << "# Passes\n\nThe default pipeline: ";
  llvm::interleaveComma(defaultPipeline(), out, [&](const PassDef *pass) {
    out << '`' << pass->name << '`';
  });
  out << ".\n\n"
         "The tolerance is the relative change of a result, in double "
         "precision, above which\n"
         "`--verify-numerics` reports the pass.\n";
  std::vector<const PassDef *> sorted = allPasses().vec();
  llvm::sort(sorted, [](const PassDef *lhs, const PassDef *rhs) {
    return lhs->name < rhs->name;
  });
  for (const PassDef *pass : sorted) {
    out << "\n## " << pass->name << "\n\n"
        << pass->summary << ".\n\n```\n"
        << pass->description
        << "\n```\n\nTolerance: " << llvm::format("%g", pass->tolerance)
        << '\n';
    if (pass->needs == Need::NotCalled)
      out << "\nNeeds functions that nothing calls, since it changes their "
             "parameters or results.\n";
    else if (pass->needs == Need::Bodies)
      out << "\nNeeds the bodies of all functions.\n";
    bool isFirst = true;
    for (const StatDef &stat : pass->stats) {
      if (stat.name.empty())
        continue;
      out << (isFirst ? "\n" : "") << "- `" << stat.name
          << "`: " << stat.summary << '\n';
      isFirst = false;
    }
  }
}
