//===- Probe.cpp - finds the rules of this machine ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Probe/Probe.h"
#include "ProbeChild.h"
#include "StatusLine.h"
#include "lib/Probe/Diags.h"
#include "lib/Probe/Judge.h"
#include "lib/Probe/ProbeFile.h"
#include "lib/Probe/Verdicts.h"
#include "lib/Target/RuleProgram.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace anec;
namespace json = llvm::json;
using Clock = std::chrono::steady_clock;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

class Prober {
public:
  Prober(const ProbeOptions &options, llvm::raw_ostream &out,
         Diagnostics &diags)
      : options(options), out(out), diags(diags) {}
  bool run();

private:
  bool resume();
  void chooseRules();
  bool save();
  void tryRule(const Rule &rule, json::Object &entry);
  json::Object child(const std::string &name, llvm::StringRef text) const;
  bool isTimed() const;
  bool isStopped() const { return options.stop && *options.stop; }
  void showStatus(const Rule &rule, size_t number) const;
  void finish(const Rule &rule, json::Object entry, size_t number);
  void printSummary() const;

  const ProbeOptions &options;
  llvm::raw_ostream &out;
  Diagnostics &diags;
  ProbeFile report;
  std::vector<const Rule *> rules;
  StatusLine status{options.status};
  Clock::time_point begin = Clock::now();
};

} // namespace

/// Runs one program in a child process.
json::Object Prober::child(const std::string &name,
                           llvm::StringRef text) const {
  return ProbeChild{options.childCommand, options.secondsEach,
                    options.highestErrorCode, options.stop,
                    options.machine.stagingFolder}
      .run(name, text);
}

/// Whether rules about speed are timed.
bool Prober::isTimed() const { return options.time || report.isOfEngine(); }

void Prober::tryRule(const Rule &rule, json::Object &entry) {
  Judgement judgement{RuleVerdict::Unclear};
  const RuleProgram *bad = findRuleProgram(rule.id, "bad");
  const RuleProgram *good = findRuleProgram(rule.id, "good");
  if (options.skipDangerous && !rule.danger.empty()) {
    judgement = {RuleVerdict::Skipped, rule.danger.str()};
  } else if (!rule.unprobed.empty()) {
    judgement = {RuleVerdict::NotProbed, rule.unprobed.str()};
  } else if (!bad || !good) {
    judgement = {RuleVerdict::NotProbed, "the rule has no programs"};
  } else if (rule.impact == Impact::Performance) {
    json::Object times =
        isTimed()
            ? child((rule.id + ".times").str(), bad->text)
            : json::Object{{"outcome", spelling(ProgramOutcome::NotTimed)},
                           {"message",
                            "times of the processor say nothing about an "
                            "engine; `--time` measures them anyway"}};
    judgement = judgeTimes(times);
    entry["times"] = std::move(times);
  } else {
    json::Object breaking = child((rule.id + ".bad").str(), bad->text);
    json::Object keeping;
    if (!isStopped())
      keeping = child((rule.id + ".good").str(), good->text);
    judgement = judge(rule, breaking, keeping);
    entry["breaking"] = std::move(breaking);
    entry["keeping"] = std::move(keeping);
  }
  entry["verdict"] = spelling(judgement.verdict);
  if (!judgement.why.empty())
    entry["why"] = judgement.why;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// Takes over the entries of an earlier run on this machine.
bool Prober::resume() {
  if (!llvm::sys::fs::exists(options.output))
    return true;
  std::optional<ProbeFile> before = readProbeFile(options.output, diags);
  if (!before)
    return false;
  bool isByOtherPath = !before->rules.empty() && before->path != report.path;
  if (!before->isOfSameMachine(report) || isByOtherPath) {
    diags.reportFile(options.output, diag::ProbeOfOtherMachine, before->chip,
                     before->system, report.chip, report.system);
    return false;
  }
  // Requested rules are tried again.
  auto isAskedFor = [&](llvm::StringRef id) {
    return llvm::is_contained(options.rules, id);
  };
  for (json::Object &entry : before->rules)
    if (!isAskedFor(*entry.getString("rule")))
      report.rules.push_back(std::move(entry));
  report.inspection = std::move(before->inspection);
  report.paths = std::move(before->paths);
  report.trials = std::move(before->trials);
  // This rule ended the probe, and would do so again.
  if (!before->running.empty() && findRule(before->running) &&
      !report.find(before->running) && !isAskedFor(before->running))
    report.rules.push_back(json::Object{
        {"rule", before->running},
        {"verdict", spelling(RuleVerdict::Unclear)},
        {"why", "the machine or the probe ended during the test; `--rule=" +
                    before->running + "` tests it again"}});
  return true;
}

/// Rules whose programs may end more than a process come last.
void Prober::chooseRules() {
  for (const Rule *rule : allRules())
    if ((options.rules.empty() ||
         llvm::is_contained(options.rules, rule->id)) &&
        !report.find(rule->id))
      rules.push_back(rule);
  llvm::stable_sort(rules, [](const Rule *a, const Rule *b) {
    return a->danger.empty() > b->danger.empty();
  });
}

bool Prober::save() {
  return options.output.empty() ||
         writeProbeFile(report, options.output, diags);
}

static std::string duration(double seconds) {
  return seconds < 90 ? llvm::formatv("{0:F0} s", seconds).str()
                      : llvm::formatv("{0:F0} min", seconds / 60).str();
}

void Prober::showStatus(const Rule &rule, size_t number) const {
  std::chrono::duration<double> elapsed = Clock::now() - begin;
  std::string left = number ? ", " +
                                  duration(elapsed.count() / double(number) *
                                           double(rules.size() - number)) +
                                  " left"
                            : "";
  status.show(
      llvm::formatv("{0}/{1} {2}{3}", number + 1, rules.size(), rule.id, left)
          .str());
}

void Prober::finish(const Rule &rule, json::Object entry, size_t number) {
  status.clear();
  auto verdict = entry.getString("verdict").value_or("");
  if (!options.json) {
    out << llvm::formatv("{0,7} {1,-14} {2}",
                         llvm::formatv("{0}/{1}", number + 1, rules.size()),
                         verdict, rule.id);
    auto outcome = [&](llvm::StringRef which) {
      const json::Object *object = entry.getObject(which);
      return object ? object->getString("outcome").value_or("") : "";
    };
    if (entry.getObject("breaking"))
      out << ": breaking it " << outcome("breaking") << ", keeping it "
          << outcome("keeping");
    if (const json::Object *times = entry.getObject("times"))
      if (auto ratio = times->getNumber("ratio"))
        out << llvm::formatv(": breaking it takes {0:F2} times as long",
                             *ratio);
    if (auto why = entry.getString("why"))
      out << " (" << *why << ")";
    out << '\n';
    out.flush();
  }
  report.rules.push_back(std::move(entry));
}

void Prober::printSummary() const {
  if (options.json) {
    out << llvm::formatv("{0:2}", report.toJson()) << '\n';
    return;
  }
  std::string words;
  for (auto [verdict, count] : report.counts())
    words +=
        llvm::formatv("{0}{1} {2}", words.empty() ? "" : ", ", count, verdict);
  out << report.rules.size() << " rules: " << words << '\n';
  if (!report.isOfEngine())
    out << "no engine was probed: these results say nothing about an engine\n";
  if (!report.isComplete && !options.output.empty())
    out << "stopped; `--resume` continues\n";
}

bool Prober::run() {
  report = ProbeFile::ofMachine(options.machine);
  if (options.resume && !resume())
    return false;
  chooseRules();
  for (size_t number = 0; number < rules.size() && !isStopped(); ++number) {
    const Rule &rule = *rules[number];
    report.running = rule.id.str();
    if (!save())
      return false;
    showStatus(rule, number);
    json::Object entry{{"rule", rule.id}};
    tryRule(rule, entry);
    report.running.clear();
    if (!isStopped())
      finish(rule, std::move(entry), number);
  }
  // If only some rules are requested, the report is complete with them.
  bool all = options.rules.empty() || options.resume;
  report.isComplete = llvm::all_of(allRules(), [&](const Rule *rule) {
    return report.find(rule->id) ||
           (!all && !llvm::is_contained(options.rules, rule->id));
  });
  bool saved = save();
  status.clear();
  printSummary();
  return saved;
}

bool anec::probe(const ProbeOptions &options, llvm::raw_ostream &out,
                 Diagnostics &diags) {
  return Prober(options, out, diags).run();
}
