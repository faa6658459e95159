//===- Judge.cpp - verdicts on rules --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Probe/Judge.h"

using namespace anec;
namespace json = llvm::json;

static llvm::StringRef outcomeOf(const json::Object &object) {
  return object.getString("outcome").value_or("");
}

/// `refused: MESSAGE`, or only the outcome.
static std::string inWords(const json::Object &object) {
  std::string words = outcomeOf(object).str();
  if (auto message = object.getString("message"))
    words += ": " + message->str();
  return words;
}

Judgement anec::judge(const Rule &rule, const json::Object &breaking,
                      const json::Object &keeping) {
  llvm::StringRef bad = outcomeOf(breaking), good = outcomeOf(keeping);
  for (const json::Object *one : {&breaking, &keeping})
    if (outcomeOf(*one) == "not-tried")
      return {"not-probed", one->getString("message").value_or("").str()};
  bool breaks = bad == "refused" || bad == "wrong" || bad == "crashed" ||
                bad == "timed-out";
  // If the program that keeps the rule fails too, the other may fail for
  // another reason.
  if (good != "right")
    return {"unclear", "the program that keeps it is " + inWords(keeping)};
  if (breaks)
    return {"holds"};
  if (bad != "right")
    return {"unclear", "the program that breaks it is accepted, but its "
                       "results are not known to be right (" +
                           inWords(breaking) + ")"};
  // Results that are wrong for some values may be right for these.
  if (rule.impact == Impact::Error)
    return {"does-not-hold"};
  return {"not-seen"};
}

Judgement anec::judgeTimes(const json::Object &times) {
  if (outcomeOf(times) == "not-timed")
    return {"not-timed", times.getString("message").value_or("").str()};
  if (outcomeOf(times) == "not-tried")
    return {"not-probed", times.getString("message").value_or("").str()};
  auto ratio = times.getNumber("ratio"), least = times.getNumber("least_ratio"),
       most = times.getNumber("most_ratio"),
       threshold = times.getNumber("threshold");
  if (!ratio || !least || !most || !threshold)
    return {"unclear", "no times: " + inWords(times)};
  if (*least > *threshold)
    return {"slower"};
  if (*most <= *threshold)
    return {"not-slower"};
  return {"unclear", "the times vary too much for a verdict"};
}
