//===- RulesPage.cpp - docs/reference/rules.md, from the rules -----------===//
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
  if (rule.paths != PathSet::all())
    out << "- paths: " << rule.paths.str() << '\n';
  if (rule.isFineAtEnds)
    out << "- for coreml: only between ops that the engine runs\n";
  if (!rule.fineForCoreML.empty())
    out << "- for coreml: not " << rule.fineForCoreML << '\n';
  out << "- source: " << rule.source << "; read in " << rule.date << ", "
      << spelling(rule.confidence) << " confidence\n";
  if (!rule.conflict.empty())
    out << "- but: " << rule.conflict << '\n';
  if (!rule.trial.empty())
    out << "- recorded: " << rule.trial << '\n';
  out << "- instead: " << rule.advice << '\n';
  if (rule.rewrite != Rewrite::None)
    out << "- rewrite: `" << spelling(rule.rewrite) << '`'
        << (rule.rewriteWhen == RewriteWhen::Chosen ? ", with `--target`" : "")
        << '\n';
  if (!rule.danger.empty())
    out << "- probed last: " << rule.danger << '\n';
  if (!rule.unprobed.empty())
    out << "- not probed: " << rule.unprobed << '\n';
}

/// The rules that `ane-run probe` cannot judge.
static void printUnprobed(llvm::raw_ostream &out) {
  out << "\n"
         "`ane-run probe` tests the rules on the current machine\n"
         "([ane.md](../use/ane.md#what-this-machine-takes)), except:\n\n"
         "| rule | why |\n"
         "|---|---|\n";
  for (const Rule *rule : allRules())
    if (!rule->unprobed.empty())
      out << "| " << rule->id << " | " << rule->unprobed << " |\n";
}

void anec::printRulesPage(llvm::raw_ostream &out) {
  out << "# Rules\n\n"
         "Restrictions of each chip. `anec check FILE.mil --target=NAME` "
         "reports broken rules,\n"
         "`anec explain RULE` prints a rule, and `--assume=RULE=allow` or "
         "`deny` overrides one.\n"
         "A rule applies to `generic` when it applies to any chip.\n\n"
         "Nothing here was measured by this project or is documented by the "
         "vendor: a rule is\n"
         "as good as its source. [accuracy.md](accuracy.md) compares the rules "
         "with recorded\n"
         "verdicts of the vendor's compiler. Where sources disagree, both are "
         "listed. "
         "*error* and\n"
         "*silent-corruption* (wrong results) are errors; *warning* programs "
         "may be rejected or\n"
         "less accurate; *layout* programs run if the caller's buffers are as "
         "they say;\n"
         "*performance* programs are slow. The last two are remarks, and so is "
         "a *warning* of\n"
         "low confidence that another source contradicts.\n\n"
         "`--for=` names the framework that compiles the program: `in-memory`, "
         "as `ane-run`\n"
         "does, `coreml` or `e5`. Rules with *paths* are about these alone. "
         "Core ML runs\n"
         "elsewhere what the engine's compiler refuses, so that such rules are "
         "warnings there.\n\n"
         "When a source names the macOS version that it observed a rule on, "
         "the rule applies\n"
         "from that version on, up to the last version known to have it. "
         "`--os=15.6` disables\n"
         "the rules that do not apply to 15.6; on a Mac, its own version is "
         "the default, and\n"
         "`--os=any` disables none.\n\n"
      << allRules().size() << " rules, grouped by family.\n";
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
