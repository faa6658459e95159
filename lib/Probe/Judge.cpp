//===- Judge.cpp - verdicts on rules --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Probe/Judge.h"

using namespace anec;
namespace json = llvm::json;

static std::optional<ProgramOutcome>
programOutcome(const json::Object &object) {
  return wordAt<ProgramOutcome>(object, "outcome");
}

/// `refused: MESSAGE`, or only the outcome.
static std::string inWords(const json::Object &object) {
  std::string words = object.getString("outcome").value_or("").str();
  if (auto message = object.getString("message"))
    words += ": " + message->str();
  return words;
}

Judgement anec::judge(const Rule &rule, const json::Object &breaking,
                      const json::Object &keeping) {
  auto bad = programOutcome(breaking), good = programOutcome(keeping);
  for (const json::Object *one : {&breaking, &keeping})
    if (programOutcome(*one) == ProgramOutcome::NotTried)
      return {RuleVerdict::NotProbed,
              one->getString("message").value_or("").str()};
  bool breaks =
      bad == ProgramOutcome::Refused || bad == ProgramOutcome::Wrong ||
      bad == ProgramOutcome::Crashed || bad == ProgramOutcome::TimedOut;
  // If the program that keeps the rule fails too, the other may fail for
  // another reason.
  if (good != ProgramOutcome::Right)
    return {RuleVerdict::Unclear,
            "the program that keeps it is " + inWords(keeping)};
  if (breaks)
    return {RuleVerdict::Holds};
  if (bad != ProgramOutcome::Right)
    return {RuleVerdict::Unclear,
            "the program that breaks it is accepted, but its "
            "results are not known to be right (" +
                inWords(breaking) + ")"};
  // Results that are wrong for some values may be right for these.
  if (rule.impact == Impact::Error)
    return {RuleVerdict::DoesNotHold};
  return {RuleVerdict::NotSeen};
}

Judgement anec::judgeTimes(const json::Object &times) {
  if (programOutcome(times) == ProgramOutcome::NotTimed)
    return {RuleVerdict::NotTimed,
            times.getString("message").value_or("").str()};
  if (programOutcome(times) == ProgramOutcome::NotTried)
    return {RuleVerdict::NotProbed,
            times.getString("message").value_or("").str()};
  auto ratio = times.getNumber("ratio"), least = times.getNumber("least_ratio"),
       most = times.getNumber("most_ratio"),
       threshold = times.getNumber("threshold");
  if (!ratio || !least || !most || !threshold)
    return {RuleVerdict::Unclear, "no times: " + inWords(times)};
  if (*least > *threshold)
    return {RuleVerdict::Slower};
  if (*most <= *threshold)
    return {RuleVerdict::NotSlower};
  return {RuleVerdict::Unclear, "the times vary too much for a verdict"};
}
