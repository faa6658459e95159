//===- ProbeJudgeTest.cpp - verdicts on rules -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Probe/Judge.h"
#include "gtest/gtest.h"

using namespace anec;
namespace json = llvm::json;

static json::Object outcome(llvm::StringRef word,
                            llvm::StringRef message = "") {
  json::Object object{{"outcome", word}};
  if (!message.empty())
    object["message"] = message;
  return object;
}

static std::string verdict(const Rule &rule, llvm::StringRef bad,
                           llvm::StringRef good) {
  Judgement judgement = judge(rule, outcome(bad), outcome(good));
  // A verdict that is unclear has a reason.
  bool isUnclear = judgement.verdict == RuleVerdict::Unclear;
  EXPECT_EQ(isUnclear, !judgement.why.empty());
  return spelling(judgement.verdict).str();
}

TEST(ProbeJudge, Outcomes) {
  const Rule &error = rules::ConcatExtent, &warning = rules::InlineArgument,
             &values = rules::ConvWeight;
  ASSERT_EQ(error.impact, Impact::Error);
  ASSERT_EQ(warning.impact, Impact::Warning);
  ASSERT_EQ(values.impact, Impact::SilentCorruption);
  for (const Rule *rule : {&error, &warning, &values}) {
    for (const char *failure : {"refused", "wrong", "crashed", "timed-out"}) {
      EXPECT_EQ(verdict(*rule, failure, "right"), "holds");
      // The program that keeps the rule has to work.
      EXPECT_EQ(verdict(*rule, failure, failure), "unclear");
      EXPECT_EQ(verdict(*rule, "right", failure), "unclear");
    }
    EXPECT_EQ(verdict(*rule, "ran", "right"), "unclear");
    EXPECT_EQ(verdict(*rule, "loaded", "right"), "unclear");
    EXPECT_EQ(verdict(*rule, "right", "ran"), "unclear");
  }
  EXPECT_EQ(verdict(error, "right", "right"), "does-not-hold");
  EXPECT_EQ(verdict(warning, "right", "right"), "not-seen");
  EXPECT_EQ(verdict(values, "right", "right"), "not-seen");
}

TEST(ProbeJudge, NotTried) {
  Judgement few =
      judge(rules::IoMaximum, outcome("not-tried", "it takes 20 GB"),
            outcome("right"));
  EXPECT_EQ(few.verdict, RuleVerdict::NotProbed);
  EXPECT_EQ(few.why, "it takes 20 GB");
  Judgement refused = judge(rules::ConcatExtent, outcome("right"),
                            outcome("refused", "no room"));
  EXPECT_EQ(refused.why, "the program that keeps it is refused: no room");
}

static json::Object timed(double least, double ratio, double most) {
  json::Object times = outcome("timed");
  times["least_ratio"] = least;
  times["ratio"] = ratio;
  times["most_ratio"] = most;
  times["threshold"] = 1.1;
  return times;
}

TEST(ProbeJudge, Times) {
  EXPECT_EQ(judgeTimes(timed(2.5, 3, 3.5)).verdict, RuleVerdict::Slower);
  EXPECT_EQ(judgeTimes(timed(0.9, 1, 1.1)).verdict, RuleVerdict::NotSlower);
  // A median alone is no proof.
  EXPECT_EQ(judgeTimes(timed(1, 3, 5)).verdict, RuleVerdict::Unclear);
  EXPECT_EQ(judgeTimes(timed(1.1, 1.2, 1.3)).verdict, RuleVerdict::Unclear);
  EXPECT_EQ(judgeTimes(outcome("not-timed", "no engine")).verdict,
            RuleVerdict::NotTimed);
  EXPECT_EQ(judgeTimes(outcome("not-tried", "no memory")).verdict,
            RuleVerdict::NotProbed);
  Judgement crashed = judgeTimes(outcome("crashed", "signal 6"));
  EXPECT_EQ(crashed.verdict, RuleVerdict::Unclear);
  EXPECT_EQ(crashed.why, "no times: crashed: signal 6");
}
