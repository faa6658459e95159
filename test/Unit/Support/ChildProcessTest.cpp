//===- ChildProcessTest.cpp - programs run to their end -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/ChildProcess.h"
#include "gtest/gtest.h"
#include <csignal>

using namespace anec;
using namespace std::chrono_literals;

static ChildResult runShell(const std::string &script,
                            std::chrono::milliseconds limit = 60s) {
  static const std::atomic<bool> never{false};
  return runChild({"/bin/sh", "-c", script}, limit, never);
}

TEST(ChildProcess, ExitCodeAndOutput) {
  ChildResult result = runShell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(result.how, ChildResult::Exited);
  EXPECT_EQ(result.code, 7);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(ChildProcess, Signal) {
  ChildResult result = runShell("kill -SEGV $$");
  EXPECT_EQ(result.how, ChildResult::Crashed);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST(ChildProcess, EndOfLongErrors) {
  ChildResult result = runShell(
      "i=0; while [ $i -lt 2000 ]; do echo $i >&2; i=$((i + 1)); done");
  EXPECT_EQ(result.how, ChildResult::Exited);
  EXPECT_LE(result.errors.size(), 500u);
  EXPECT_TRUE(result.errors.ends_with("1998\n1999\n"));
}

// The process that the shell starts keeps the pipe open: it has to be killed,
// too, or this would take a minute.
TEST(ChildProcess, LimitKillsTheGroup) {
  auto begin = std::chrono::steady_clock::now();
  ChildResult result = runShell("sleep 60 & sleep 60", 50ms);
  EXPECT_EQ(result.how, ChildResult::TimedOut);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST(ChildProcess, StopsWhenAsked) {
  static const std::atomic<bool> stop{true};
  ChildResult result = runChild({"/bin/sh", "-c", "sleep 60"}, 60s, stop);
  EXPECT_EQ(result.how, ChildResult::Stopped);
}

TEST(ChildProcess, NoSuchProgram) {
  static const std::atomic<bool> never{false};
  ChildResult result = runChild({"/no/such/program"}, 60s, never);
  // Some systems find out in the child.
  bool isReported = result.how == ChildResult::NotStarted ||
                    (result.how == ChildResult::Exited && result.code == 127);
  EXPECT_TRUE(isReported);
}
