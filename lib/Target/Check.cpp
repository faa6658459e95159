//===- Check.cpp - check programs against rules ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Check.h"
#include "lib/IR/Blocks.h"
#include "lib/Support/Listing.h"
#include "lib/Support/Suggestion.h"
#include "lib/Target/Diags.h"
#include "lib/Target/Place.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

bool Assumptions::denies(const Rule &rule) const {
  return llvm::is_contained(denied, &rule);
}

bool Assumptions::demands(const Rule &rule, const Target &target) const {
  return denies(rule) || (rule.appliesTo(target) && !allows(rule));
}

bool Assumptions::allows(const Rule &rule) const {
  if (denies(rule))
    return false;
  return (macOS && !rule.macOS.contains(*macOS)) ||
         !rule.paths.contains(path) || llvm::is_contained(allowed, &rule);
}

Severity Assumptions::severityOf(const Rule &rule) const {
  return denies(rule) ? Severity::Error : rule.severity(path);
}

bool anec::parseAssumption(llvm::StringRef text, Assumptions &assumptions,
                           Diagnostics &diags) {
  auto [id, verdict] = text.split('=');
  if (verdict != "allow" && verdict != "deny") {
    diags.report({}, diag::AssumptionForm, text);
    return false;
  }
  const Rule *rule = findRule(id);
  if (!rule) {
    Suggestion suggestion(id);
    for (const Rule *known : allRules())
      suggestion.consider(known->id);
    suggestion.note(diags.report({}, diag::UnknownRule, id), {});
    return false;
  }
  (verdict == "allow" ? assumptions.allowed : assumptions.denied)
      .push_back(rule);
  return true;
}

/// Makes one finding of those of `rule` in a program, which are one fact. It
/// has their places.
static void joinFindings(std::vector<Finding> &findings, const Rule &rule) {
  Finding *one = nullptr;
  for (Finding &finding : findings) {
    if (finding.rule != &rule)
      continue;
    if (one)
      one->also.push_back(finding.range);
    else
      one = &finding;
  }
  if (!one || one->also.empty())
    return;
  one->what += "; " + std::to_string(one->also.size() + 1) + " places in all";
  auto rest = findings.begin() + (one - findings.data()) + 1;
  findings.erase(std::remove_if(rest, findings.end(),
                                [&](const Finding &finding) {
                                  return finding.rule == &rule;
                                }),
                 findings.end());
}

static bool hasFindingOf(llvm::ArrayRef<Finding> findings, const Rule &rule) {
  return llvm::any_of(
      findings, [&](const Finding &finding) { return finding.rule == &rule; });
}

/// Calls `visit` for each op, and for those of the blocks of each op.
static void forEachOp(const Function &function,
                      llvm::function_ref<void(const Op &)> visit) {
  for (const Op &op : function.body()) {
    visit(op);
    for (const auto &block : blocksOf(op))
      forEachOp(*block, visit);
  }
}

void anec::checkFunction(const Function &function, const Target &target,
                         const Assumptions &assumptions,
                         std::vector<Finding> &findings) {
  OpsAroundEngine around;
  bool isForCoreML = assumptions.path == EnginePath::CoreML;
  if (isForCoreML)
    around = OpsAroundEngine::find(function, target, assumptions);
  for (const Rule *rule : allRules()) {
    if (!assumptions.demands(*rule, target))
      continue;
    auto report = [&](SourceRange range, std::string what) {
      findings.push_back({rule, range, std::move(what), "", {&target}});
    };
    if (rule->ofFunction)
      rule->ofFunction(function, target, report);
    if (!rule->ofOp)
      continue;
    bool takesAll = !isForCoreML || assumptions.denies(*rule);
    forEachOp(function, [&](const Op &op) {
      if (takesAll || !isFineForCoreML(op, *rule, around))
        if (Verdict what = rule->ofOp(op, target))
          report(op.range(), std::move(*what));
    });
  }
}

/// By place in the text.
static bool isEarlier(const Finding &lhs, const Finding &rhs) {
  return lhs.range.Start.getPointer() < rhs.range.Start.getPointer();
}

std::vector<Finding> anec::checkProgram(const MILOutline *text,
                                        const Module *module,
                                        const Target &target,
                                        const Assumptions &assumptions) {
  std::vector<Finding> findings;
  if (text)
    for (const Rule *rule : allRules())
      if (rule->ofText && assumptions.demands(*rule, target))
        rule->ofText(*text, target, [&](SourceRange range, std::string what) {
          findings.push_back({rule, range, std::move(what), "", {&target}});
        });
  if (module)
    for (const auto &function : module->functions)
      if (function->kind != FunctionKind::Host)
        checkFunction(*function, target, assumptions, findings);
  llvm::stable_sort(findings, isEarlier);
  // Nobody writes the ops of a package one by one: what breaks a rule there is
  // how the model computes.
  bool isCoreML = assumptions.path == EnginePath::CoreML;
  for (const Rule *rule : allRules()) {
    if (isCoreML || rule->isOneFact)
      joinFindings(findings, *rule);
    if (isCoreML && rule->saidBy && hasFindingOf(findings, *rule->saidBy) &&
        !assumptions.denies(*rule))
      llvm::erase_if(findings, [&](const Finding &finding) {
        return finding.rule == rule;
      });
  }
  return findings;
}

/// Whether both say the same of the same place.
static bool isSame(const Finding &lhs, const Finding &rhs) {
  return lhs.rule == rhs.rule && lhs.range.Start == rhs.range.Start &&
         lhs.range.End == rhs.range.End && lhs.what == rhs.what &&
         llvm::equal(lhs.also, rhs.also, [](SourceRange a, SourceRange b) {
           return a.Start == b.Start && a.End == b.End;
         });
}

void anec::mergeFindings(std::vector<Finding> &findings,
                         std::vector<Finding> added) {
  std::vector<Finding> news;
  for (Finding &finding : added) {
    auto [first, last] =
        std::equal_range(findings.begin(), findings.end(), finding, isEarlier);
    // Ops of one place can have equal findings; each is one for each target.
    auto same = std::find_if(first, last, [&](const Finding &other) {
      return isSame(finding, other) &&
             !llvm::is_contained(other.targets, finding.targets.front());
    });
    if (same == last)
      news.push_back(std::move(finding));
    else
      llvm::append_range(same->targets, finding.targets);
  }
  llvm::append_range(findings, news);
  llvm::stable_sort(findings, isEarlier);
}

std::string anec::listTargets(llvm::ArrayRef<const Target *> targets) {
  return llvm::join(
      llvm::map_range(targets,
                      [](const Target *target) { return target->name.str(); }),
      ", ");
}

std::string anec::listPlaces(llvm::ArrayRef<SourceRange> ranges,
                             SourceRange first, const Diagnostics &diags) {
  constexpr size_t most = 8;
  std::optional<SourcePlace> last = diags.locate(first);
  std::string text;
  llvm::raw_string_ostream out(text);
  for (SourceRange range : ranges.take_front(most)) {
    std::optional<SourcePlace> place = diags.locate(range);
    if (!place)
      continue;
    if (place->line == 0) {
      out << (text.empty() ? "" : "; ") << listedWords(range);
      continue;
    }
    out << (text.empty() ? "" : ", ");
    if (!last || place->file != last->file)
      out << place->file << ':';
    else if (text.empty())
      out << "line ";
    out << place->line;
    last = place;
  }
  return text + (ranges.size() > most ? ", ..." : "");
}

std::vector<SourceRange>
anec::otherPlaces(const Finding &finding,
                  llvm::ArrayRef<const Finding *> others) {
  std::vector<SourceRange> ranges = finding.also;
  for (const Finding *other : others) {
    ranges.push_back(other->range);
    llvm::append_range(ranges, other->also);
  }
  return ranges;
}

void anec::reportFinding(const Finding &finding, const Assumptions &assumptions,
                         Diagnostics &diags,
                         llvm::ArrayRef<const Finding *> others,
                         llvm::ArrayRef<const Target *> targets) {
  const Rule &rule = *finding.rule;
  bool isDenied = llvm::is_contained(assumptions.denied, &rule);
  bool isCoreML = assumptions.path == EnginePath::CoreML;
  diag::Kind<diag::Text> kind(isDenied   ? rule.denied
                              : isCoreML ? rule.reportedOnCoreML
                                         : rule.reported);
  auto report = diags.report(finding.range, kind, finding.what);
  if (finding.targets.size() < targets.size())
    report.note({}, diag::RuleTargets, listTargets(finding.targets));
  std::vector<SourceRange> ranges = otherPlaces(finding, others);
  if (!ranges.empty())
    report.note({}, diag::RuleMore, ranges.size(),
                listPlaces(ranges, finding.range, diags));
  std::string where =
      rule.chips == ChipSet::all() ? "all chips" : rule.chips.str();
  if (rule.macOS.isKnown())
    where += " with macOS " + rule.macOS.str();
  report.note({}, diag::RuleSource, where, rule.summary, rule.source,
              spelling(rule.confidence));
  if (!rule.conflict.empty())
    report.note({}, diag::RuleConflict, rule.conflict, rule.id);
  if (!finding.recorded.empty())
    report.note({}, diag::RuleRecorded, finding.recorded);
  report.note({}, diag::RuleAdvice, rule.advice);
}
