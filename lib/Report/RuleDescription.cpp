//===- RuleDescription.cpp - a rule as text -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Report/RuleDescription.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

void anec::printRule(const Rule &rule, llvm::raw_ostream &out) {
  out << rule.id << ": " << rule.summary << "\n\n"
      << "  impact      " << spelling(rule.impact) << '\n'
      << "  chips       " << rule.chips.str() << '\n';
  if (rule.macOS.isKnown())
    out << "  macOS       " << rule.macOS.str() << '\n';
  if (rule.paths != PathSet::all())
    out << "  paths       " << rule.paths.str() << '\n';
  if (rule.isFineAtEnds)
    out << "  for coreml  only between ops that the engine runs\n";
  if (!rule.fineForCoreML.empty())
    out << "  for coreml  not " << rule.fineForCoreML << '\n';
  out << "  source      " << rule.source << '\n'
      << "  read        " << rule.date << '\n'
      << "  confidence  " << spelling(rule.confidence) << '\n';
  if (!rule.conflict.empty())
    out << "  but         " << rule.conflict << '\n';
  if (!rule.trial.empty())
    out << "  recorded    " << rule.trial << '\n';
  out << "  instead     " << rule.advice << '\n';
  if (rule.rewrite != Rewrite::None)
    out << "  rewrite     " << spelling(rule.rewrite) << '\n';
  out << "\n--assume=" << rule.id << "=allow disables it, --assume=" << rule.id
      << "=deny makes it an error.\n";
}
