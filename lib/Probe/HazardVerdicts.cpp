//===- HazardVerdicts.cpp - verdicts on hazards ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Trials.h"
#include "lib/Probe/HazardVerdict.h"
#include "lib/Probe/Verdicts.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
namespace json = llvm::json;

static llvm::StringRef textOf(const json::Object &entry, llvm::StringRef key) {
  return entry.getString(key).value_or("");
}

static bool isTried(const json::Object &entry) {
  return trialVerdict(entry) != ProgramOutcome::NotTried;
}

static bool isRight(const json::Object &entry) {
  return trialVerdict(entry) == ProgramOutcome::Right;
}

double anec::slowdownOf(const json::Object &trial) {
  const json::Object *measured = trial.getObject("measured");
  return measured ? measured->getNumber("slowdown").value_or(0) : 0;
}

bool anec::hasRun(const json::Object &trial) {
  return isRight(trial) || trialVerdict(trial) == ProgramOutcome::Wrong;
}

/// Whether a failure of `trial` is one of the hazard: its baseline is right by
/// the same path, and the program before it ran.
static bool isOfHazard(llvm::ArrayRef<json::Object> trials, const Trial &trial,
                       llvm::StringRef path) {
  auto has = [&](llvm::StringRef name, bool (*meets)(const json::Object &)) {
    return name.empty() || llvm::any_of(trials, [&](const json::Object &entry) {
             return textOf(entry, "trial") == name &&
                    textOf(entry, "path") == path && meets(entry);
           });
  };
  return has(trial.baseline, isRight) && has(trial.before, hasRun);
}

/// What a failure that is not of the hazard needs.
static std::string needsOf(const Trial &trial) {
  std::string needs = ("a failure says something only where `" +
                       trial.baseline + "` is right by the same path")
                          .str();
  if (!trial.before.empty())
    needs += (" and `" + trial.before + "` runs").str();
  return needs;
}

static HazardVerdict judgeHazard(const Hazard &hazard,
                                 llvm::ArrayRef<json::Object> trials,
                                 bool isOfEngine) {
  HazardVerdict result{hazard.id, hazard.summary, hazard.source};
  for (const json::Object &entry : trials) {
    const Trial *trial = findTrial(textOf(entry, "trial"));
    if (!trial || trial->hazard != hazard.id || !isTried(entry))
      continue;
    ++result.tried;
    bool isTimed = trial->kind == TrialKind::Many;
    if (isTimed && !isOfEngine) {
      result.why = "times of the processor say nothing about an engine";
      continue;
    }
    if (isRight(entry) && !(isTimed && slowdownOf(entry) > slowerFrom)) {
      ++result.right;
      continue;
    }
    if (isOfHazard(trials, *trial, textOf(entry, "path")))
      result.failed.push_back(
          (textOf(entry, "path") + "/" + textOf(entry, "trial")).str());
    else
      result.why = needsOf(*trial);
  }
  if (!result.failed.empty()) {
    result.verdict = "present";
    result.why.clear();
  } else if (result.tried > 0 && result.right == result.tried) {
    result.verdict = "not-seen";
  } else if (result.tried == 0) {
    result.why = "no program was tried";
  }
  return result;
}

std::vector<HazardVerdict>
anec::judgeHazards(llvm::ArrayRef<json::Object> trials, bool isOfEngine) {
  std::vector<HazardVerdict> verdicts;
  for (const Hazard &hazard : allHazards())
    if (llvm::any_of(trials, [&](const json::Object &entry) {
          const Trial *trial = findTrial(textOf(entry, "trial"));
          return trial && trial->hazard == hazard.id;
        }))
      verdicts.push_back(judgeHazard(hazard, trials, isOfEngine));
  return verdicts;
}

std::vector<llvm::StringRef>
anec::rulesSeen(llvm::ArrayRef<json::Object> trials) {
  std::vector<llvm::StringRef> rules;
  for (const json::Object &entry : trials) {
    const Trial *trial = findTrial(textOf(entry, "trial"));
    if (trial && !trial->rule.empty() && isTried(entry) && !isRight(entry) &&
        isOfHazard(trials, *trial, textOf(entry, "path")) &&
        !llvm::is_contained(rules, trial->rule))
      rules.push_back(trial->rule);
  }
  llvm::sort(rules);
  return rules;
}
