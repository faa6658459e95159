//===- Check.cpp - check programs against rules ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Check.h"
#include "anec/Support/Listing.h"
#include "anec/Support/Suggestion.h"
#include "anec/Target/Diags.h"
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

/// Whether a function that breaks the rule at many ops has one finding, at the
/// first: that it computes in fp32 is decided once.
static bool isOneFact(const Rule &rule) { return &rule == &rules::Fp32Inside; }

static void checkOps(const Function &function, const Rule &rule,
                     const Target &target, ReportBreach report) {
  SourceRange first;
  std::string text;
  size_t count = 0;
  for (const Op &op : function.body()) {
    Verdict what = rule.ofOp(op, target);
    if (!what)
      continue;
    if (!isOneFact(rule))
      report(op.range(), std::move(*what));
    else if (count++ == 0) {
      first = op.range();
      text = std::move(*what);
    }
  }
  if (count > 1)
    text += ", and so are the results of other ops: " + std::to_string(count) +
            " in all";
  if (count != 0)
    report(first, std::move(text));
}

void anec::checkFunction(const Function &function, const Target &target,
                         const Assumptions &assumptions,
                         std::vector<Finding> &findings) {
  for (const Rule *rule : allRules()) {
    if (!assumptions.demands(*rule, target))
      continue;
    auto report = [&](SourceRange range, std::string what) {
      findings.push_back({rule, range, std::move(what), "", {&target}});
    };
    if (rule->ofFunction)
      rule->ofFunction(function, target, report);
    if (rule->ofOp)
      checkOps(function, *rule, target, report);
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
  return findings;
}

/// Whether both say the same of the same place.
static bool isSame(const Finding &lhs, const Finding &rhs) {
  return lhs.rule == rhs.rule && lhs.range.Start == rhs.range.Start &&
         lhs.range.End == rhs.range.End && lhs.what == rhs.what;
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
  std::vector<SourceRange> ranges;
  for (const Finding *other : others)
    ranges.push_back(other->range);
  if (!others.empty())
    report.note({}, diag::RuleMore, others.size(),
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
