//===- RulesPage.cpp - docs/rules.md, from the rules ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pages.h"
#include "anec/Target/Rule.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static void printRule(const Rule &rule, llvm::raw_ostream &out) {
  out << "\n### " << rule.id << "\n\n"
      << rule.summary << ".\n\n- impact: " << spelling(rule.impact)
      << "\n- chips: " << rule.chips.str() << '\n';
  if (rule.macOS.isKnown())
    out << "- macOS: " << rule.macOS.str() << '\n';
  out << "- source: " << rule.source << "; read in " << rule.date << ", "
      << spelling(rule.confidence) << " confidence\n";
  if (!rule.conflict.empty())
    out << "- but: " << rule.conflict << '\n';
  out << "- instead: " << rule.advice << '\n';
  if (rule.rewrite != Rewrite::None)
    out << "- rewrite: `" << spelling(rule.rewrite) << "`\n";
  if (!rule.danger.empty())
    out << "- probed last: " << rule.danger << '\n';
  if (!rule.unprobed.empty())
    out << "- not probed: " << rule.unprobed << '\n';
}

/// The rules that `ane-run probe` cannot judge.
static void printUnprobed(llvm::raw_ostream &out) {
  out << "\n`ane-run probe` tries the rules on the machine it runs on "
         "([ane.md](ane.md#what-this-machine-takes)),\nexcept:\n\n"
         "| rule | why |\n|---|---|\n";
  for (const Rule *rule : allRules())
    if (!rule->unprobed.empty())
      out << "| " << rule->id << " | " << rule->unprobed << " |\n";
}

void anec::printRulesPage(llvm::raw_ostream &out) {
  out << "# Rules\n\n"
         "What a program must not do on some chip. `anec check FILE.mil "
         "--target=NAME` reports\nthem, `anec explain RULE` prints one, and "
         "`--assume=RULE=allow` or `deny` overrules\none. A rule holds for "
         "`generic` when it holds for any chip.\n\n"
         "Nothing here was measured by this project or is documented by the "
         "vendor: a rule is\nas good as its source, and where sources "
         "disagree, both stand here. *error* and\n*silent-corruption* "
         "(wrong results) are errors; *warning* may be refused or be less\n"
         "accurate; *performance* is slow.\n\n"
         "Where a source says which macOS it saw a rule on, the rule holds "
         "from that version\non, or to the last where it is known to be gone; "
         "`--os=15.6` switches off those that\ndo not hold on 15.6.\n\n"
      << allRules().size() << " rules, by family.\n";
  printUnprobed(out);
  for (auto &[family, rows] : byFamily(allRules())) {
    out << "\n## " << family << '\n';
    llvm::sort(rows, [](const Rule *lhs, const Rule *rhs) {
      return lhs->id < rhs->id;
    });
    for (const Rule *rule : rows)
      printRule(*rule, out);
  }
}
