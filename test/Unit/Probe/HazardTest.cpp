//===- HazardTest.cpp - trials, and verdicts on hazards -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/Inspect.h"
#include "lib/Probe/HazardVerdict.h"
#include "lib/Probe/ProbeFile.h"
#include "lib/Probe/Trials.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace anec;
namespace json = llvm::json;

static json::Object entry(llvm::StringRef trial, llvm::StringRef verdict,
                          llvm::StringRef path = "direct") {
  return json::Object{
      {"trial", trial.str()}, {"path", path.str()}, {"verdict", verdict.str()}};
}

static HazardVerdict judge(llvm::StringRef hazard,
                           std::vector<json::Object> trials,
                           bool isOfEngine = true) {
  for (const HazardVerdict &verdict : judgeHazards(trials, isOfEngine))
    if (verdict.hazard == hazard)
      return verdict;
  ADD_FAILURE() << "no verdict on " << hazard.str();
  return {};
}

TEST(Hazard, Outcomes) {
  HazardVerdict right = judge("tile", {entry("tile", "right")});
  EXPECT_EQ(right.verdict, "not-seen");
  EXPECT_EQ(right.right, 1u);
  for (const char *failure : {"wrong", "refused", "crashed", "timed-out"}) {
    // Without its baseline, a failure can have any reason.
    HazardVerdict alone = judge("tile", {entry("tile", failure)});
    EXPECT_EQ(alone.verdict, "unclear");
    EXPECT_FALSE(alone.why.empty());
    HazardVerdict seen =
        judge("tile", {entry("add", "right"), entry("tile", failure)});
    EXPECT_EQ(seen.verdict, "present");
    EXPECT_EQ(seen.failed, std::vector<std::string>{"direct/tile"});
    EXPECT_EQ(seen.why, "");
    // The baseline counts by the same path.
    HazardVerdict other = judge(
        "tile", {entry("add", "right", "client"), entry("tile", failure)});
    EXPECT_EQ(other.verdict, "unclear");
    EXPECT_EQ(
        judge("tile", {entry("add", failure), entry("tile", failure)}).verdict,
        "unclear");
  }
  HazardVerdict untried = judge("tile", {entry("tile", "not-tried")});
  EXPECT_EQ(untried.verdict, "unclear");
  EXPECT_EQ(untried.tried, 0u);
}

TEST(Hazard, Paths) {
  HazardVerdict one =
      judge("tile", {entry("add", "right"), entry("tile", "wrong"),
                     entry("add", "right", "client"),
                     entry("tile", "right", "client")});
  EXPECT_EQ(one.verdict, "present");
  EXPECT_EQ(one.right, 1u);
  EXPECT_EQ(one.tried, 2u);
}

TEST(Hazard, Before) {
  // A trial that fails because of the program before it says nothing.
  for (const char *before : {"refused", "crashed"})
    EXPECT_EQ(
        judge("after-tile", {entry("conv", "right"), entry("tile", before),
                             entry("after-tile", "crashed")})
            .verdict,
        "unclear");
  for (const char *before : {"right", "wrong"})
    EXPECT_EQ(
        judge("after-tile", {entry("conv", "right"), entry("tile", before),
                             entry("after-tile", "wrong")})
            .verdict,
        "present");
}

/// Runs whose last took `slowdown` times as long as the first.
static std::vector<json::Object> runs(double slowdown) {
  json::Object many = entry("many-runs", "right");
  many["measured"] = json::Object{{"slowdown", slowdown}};
  std::vector<json::Object> trials = {entry("conv", "right")};
  trials.push_back(std::move(many));
  return trials;
}

TEST(Hazard, Slower) {
  EXPECT_EQ(judge("decay", runs(1.1)).verdict, "not-seen");
  EXPECT_EQ(judge("decay", runs(1.2)).verdict, "present");
  // Times of the processor say nothing.
  EXPECT_EQ(judge("decay", runs(1.2), false).verdict, "unclear");
  EXPECT_EQ(judge("decay", runs(1.1), false).verdict, "unclear");
}

TEST(Hazard, Assumptions) {
  ProbeFile file;
  EXPECT_TRUE(file.deriveAssumptions().empty());
  // What is right allows nothing.
  file.trials = {entry("add", "right"), entry("tile", "right")};
  EXPECT_TRUE(file.deriveAssumptions().empty());
  file.trials.push_back(entry("large-silu", "wrong"));
  file.rules = {
      json::Object{{"rule", "no-mod"}, {"verdict", "does-not-hold"}},
      json::Object{{"rule", "silu-table"}, {"verdict", "does-not-hold"}},
      json::Object{{"rule", "no-neg"}, {"verdict", "holds"}}};
  EXPECT_EQ(file.deriveAssumptions(),
            (std::vector<std::string>{"no-mod=allow", "silu-table=deny"}));
}

TEST(Trials, Table) {
  std::vector<llvm::StringRef> before;
  for (const Trial &trial : allTrials()) {
    SCOPED_TRACE(trial.name.str());
    EXPECT_FALSE(llvm::is_contained(before, trial.name));
    // What a trial depends on was tried before.
    for (llvm::StringRef other : {trial.baseline, trial.before, trial.program})
      EXPECT_TRUE(other.empty() || llvm::is_contained(before, other));
    EXPECT_TRUE(llvm::any_of(allHazards(), [&](const Hazard &hazard) {
      return hazard.id == trial.hazard;
    }));
    EXPECT_NE(programOf(trial).text, nullptr);
    before.push_back(trial.name);
  }
  for (const Hazard &hazard : allHazards())
    EXPECT_TRUE(llvm::any_of(allTrials(), [&](const Trial &trial) {
      return hazard.id == trial.hazard;
    })) << hazard.id.str();
  for (llvm::StringRef basic : basicTrials)
    EXPECT_TRUE(findTrial(basic) && findTrial(basic)->baseline.empty());
}

/// Whether a chip has a rule that the program of `trial` breaks.
static bool breaks(const Trial &trial, llvm::StringRef rule) {
  return llvm::any_of(allTargets(), [&](const Target &target) {
    Diagnostics diags;
    CompileOptions options;
    options.missingWeights = MILReadOptions::MissingWeights::Ignore;
    options.passes.target = &target;
    auto program =
        compileText(programOf(trial).text, "trial.mil", options, diags);
    return program &&
           llvm::any_of(check(*program, options), [&](const Finding &finding) {
             return finding.rule->id == rule;
           });
  });
}

TEST(Trials, BreakTheirRules) {
  for (const Trial &trial : allTrials()) {
    if (trial.rule.empty())
      continue;
    SCOPED_TRACE(trial.name.str());
    const Trial *before = findTrial(trial.before);
    EXPECT_TRUE(breaks(before ? *before : trial, trial.rule));
    EXPECT_NE(findRule(trial.rule)->rewrite, Rewrite::None);
  }
  EXPECT_FALSE(breaks(*findTrial("add"), "no-tile"));
}
