//===- BackendTest.cpp - programs run as on the CPU -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include <thread>

using namespace anec;

static void expectSameAsCpu(const std::string &text) {
  TestProgram program(text);
  std::unique_ptr<Backend> ane = openDouble(), cpu = createCpuBackend();
  Diagnostics diags;
  std::unique_ptr<Executable> here = ane->load(program.function(), {}, diags);
  std::unique_ptr<Executable> there = cpu->load(program.function(), {}, diags);
  ASSERT_TRUE(here && there) << textOf(diags);
  auto results = runOnce(*here, 1, diags);
  ASSERT_FALSE(results.empty()) << textOf(diags);
  EXPECT_EQ(results, runOnce(*there, 1, diags));
}

TEST(AneBackend, SameAsCpu) {
  unsigned folders = stagedFolders();
  expectSameAsCpu(twoByTwo());
  expectSameAsCpu(convolution(0.25));
  expectNothingLeft(folders);
}

// Without attributes, names alone decide the order.
TEST(AneBackend, OrderByName) {
  ane_double::ledger().isQuiet = true;
  expectSameAsCpu(twoByTwo());
  ane_double::ledger().isQuiet = false;
}

TEST(AneBackend, PartsOfPorts) {
  TestProgram program(twoByTwo());
  std::unique_ptr<Backend> ane = openDouble();
  Diagnostics diags;
  std::unique_ptr<Executable> executable =
      ane->load(program.function(), {}, diags);
  ASSERT_TRUE(executable) << textOf(diags);
  // Input 0 is `b`, all else stays zero.
  std::vector<float> part{1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(
      executable->writeInput(0, Region{2, 5, 2, 3}, part.data(), diags));
  ASSERT_TRUE(executable->execute(diags)) << textOf(diags);
  std::vector<float> difference(8 * 40), sum(6);
  ASSERT_TRUE(executable->readOutput(0, Region{0, 0, 8, 40}, difference.data(),
                                     diags));
  ASSERT_TRUE(
      executable->readOutput(1, Region{2, 5, 2, 3}, sum.data(), diags));
  EXPECT_EQ(sum, part);
  EXPECT_EQ(difference[2 * 40 + 6], 2);
  EXPECT_EQ(difference[3 * 40 + 7], 6);
  EXPECT_EQ(difference[0], 0);
}

// Equal programs are one to the engine; others are not, whatever their names.
TEST(AneBackend, EqualProgramsAreShared) {
  TestProgram first(convolution(0.25)), same(convolution(0.25)),
      other(convolution(0.5));
  std::unique_ptr<Backend> ane = openDouble();
  Diagnostics diags;
  unsigned before = ane_double::ledger().compiles;
  auto a = ane->load(first.function(), {}, diags);
  auto b = ane->load(same.function(), {}, diags);
  EXPECT_EQ(ane_double::ledger().compiles, before + 1);
  auto c = ane->load(other.function(), {}, diags);
  EXPECT_EQ(ane_double::ledger().compiles, before + 2);
  auto one = runOnce(*a, 1, diags), two = runOnce(*b, 1, diags),
       three = runOnce(*c, 1, diags);
  EXPECT_EQ(one, two);
  EXPECT_NE(one, three);
}

TEST(AneBackend, LeastRecentlyUsedMakesRoom) {
  AneOptions options = doubleOptions();
  options.loadedLimit = 2;
  std::unique_ptr<Backend> ane = openDouble(options);
  Diagnostics diags;
  std::vector<std::unique_ptr<Executable>> executables;
  std::vector<std::vector<std::vector<uint8_t>>> expected;
  for (int i = 1; i <= 4; ++i) {
    TestProgram program(convolution(0.125 * i));
    executables.push_back(ane->load(program.function(), {}, diags));
    ASSERT_TRUE(executables.back()) << textOf(diags);
    expected.push_back(runOnce(*executables.back(), 1, diags));
    EXPECT_LE(ane_double::ledger().loaded, 2);
  }
  unsigned compiles = ane_double::ledger().compiles;
  for (int i : {0, 3, 1, 2, 0})
    EXPECT_EQ(runOnce(*executables[i], 1, diags), expected[i]) << textOf(diags);
  // What was compiled stays compiled.
  EXPECT_EQ(ane_double::ledger().compiles, compiles);
}

// Some versions remove the staged folder with the loaded program.
TEST(AneBackend, FolderMayGoWithUnloading) {
  unsigned folders = stagedFolders();
  {
    ane_double::ledger().isTidy = true;
    AneOptions options = doubleOptions();
    options.loadedLimit = 1;
    std::unique_ptr<Backend> ane = openDouble(options);
    Diagnostics diags;
    TestProgram first(convolution(0.25)), second(convolution(0.5));
    auto a = ane->load(first.function(), {}, diags);
    auto expected = runOnce(*a, 1, diags);
    auto b = ane->load(second.function(), {}, diags);
    ASSERT_FALSE(runOnce(*b, 1, diags).empty());
    EXPECT_EQ(runOnce(*a, 1, diags), expected) << textOf(diags);
    ane_double::ledger().isTidy = false;
  }
  expectNothingLeft(folders);
}

// The engine has other processes' programs, too.
TEST(AneBackend, MakesRoomWhenTheEngineIsFull) {
  ane_double::ledger().loadedLimit = 2;
  std::unique_ptr<Backend> ane = openDouble();
  Diagnostics diags;
  std::vector<std::unique_ptr<Executable>> executables;
  for (int i = 1; i <= 3; ++i) {
    TestProgram program(convolution(0.125 * i));
    executables.push_back(ane->load(program.function(), {}, diags));
    EXPECT_TRUE(executables.back()) << textOf(diags);
  }
  ane_double::ledger().loadedLimit = 0;
  TestProgram program(convolution(0.75));
  executables.clear();
  EXPECT_FALSE(ane->load(program.function(), {}, diags));
  EXPECT_NE(textOf(diags).find("[ane-too-many-programs]"), std::string::npos);
  ane_double::ledger().loadedLimit = 127;
}

TEST(AneBackend, CompileBudget) {
  AneOptions options = doubleOptions();
  std::unique_ptr<Backend> ane = openDouble(options);
  Diagnostics diags;
  TestProgram program(convolution(0.25));
  ASSERT_TRUE(ane->load(program.function(), {}, diags));
  options.compileLimit = options.compileLimit - *ane->loadsLeft();
  std::unique_ptr<Backend> full = openDouble(options);
  EXPECT_EQ(full->loadsLeft(), 0u);
  unsigned calls = ane_double::ledger().compiles;
  EXPECT_FALSE(full->load(program.function(), {}, diags));
  EXPECT_NE(textOf(diags).find("[ane-compile-budget]"), std::string::npos);
  // The compiler is not asked what it cannot do.
  EXPECT_EQ(ane_double::ledger().compiles, calls);
}

TEST(AneBackend, WhatItDoesNotHave) {
  std::unique_ptr<Backend> ane = openDouble();
  Diagnostics diags;
  TestProgram integers(R"(program(1.3)
{
  func main<ios18>(tensor<bool, [1, 8, 1, 32]> x) {
    tensor<bool, [1, 8, 1, 32]> y = logical_not(x = x)[name = string("y")];
  } -> (y);
}
)");
  EXPECT_FALSE(ane->load(integers.function(), {}, diags));
  EXPECT_NE(textOf(diags).find("[backend-lacks-type]"), std::string::npos);
  TestProgram state(R"(program(1.3)
{
  func main<ios18>(state<tensor<fp16, [1, 32]>> s) {
    tensor<fp16, [1, 32]> v = read_state(input = s)[name = string("v")];
    tensor<fp16, [1, 32]> y = add(x = v, y = v)[name = string("y")];
  } -> (y);
}
)");
  EXPECT_FALSE(ane->load(state.function(), {}, diags));
  EXPECT_NE(textOf(diags).find("[ane-no-state]"), std::string::npos);
}

TEST(AneBackend, NoFramework) {
  AneOptions options;
  options.framework = "/no/such/framework";
  Diagnostics diags;
  EXPECT_FALSE(createAneBackend(options, diags));
  EXPECT_NE(textOf(diags).find("[ane-no-framework]"), std::string::npos);
  EXPECT_FALSE(inspectAne(options).suffices());
  EXPECT_TRUE(inspectAne(doubleOptions()).suffices());
}

TEST(AneBackend, Heartbeat) {
  AneOptions options = doubleOptions();
  options.heartbeatSeconds = 0.01;
  unsigned folders = stagedFolders();
  {
    std::unique_ptr<Backend> ane = openDouble(options);
    unsigned before = ane_double::ledger().evaluations;
    for (int i = 0; i < 500 && ane_double::ledger().evaluations < before + 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GE(ane_double::ledger().evaluations, before + 3);
    // Programs run in between.
    TestProgram program(twoByTwo());
    Diagnostics diags;
    auto executable = ane->load(program.function(), {}, diags);
    ASSERT_TRUE(executable);
    for (int i = 0; i < 20; ++i)
      EXPECT_FALSE(runOnce(*executable, i, diags).empty());
  }
  expectNothingLeft(folders);
}

// What one process compiled, the next one loads.
TEST(AneBackend, Reuse) {
  AneOptions options = doubleOptions();
  options.reuse = true;
  TestProgram program(convolution(0.3125));
  Diagnostics diags;
  unsigned before = ane_double::ledger().compiles;
  openDouble(options)->load(program.function(), {}, diags);
  unsigned first = ane_double::ledger().compiles - before;
  std::unique_ptr<Backend> again = openDouble(options);
  auto executable = again->load(program.function(), {}, diags);
  ASSERT_TRUE(executable) << textOf(diags);
  // The folder may be of an earlier test run.
  EXPECT_LE(first, 1u);
  EXPECT_EQ(ane_double::ledger().compiles, before + first);
  auto results = runOnce(*executable, 1, diags);
  std::unique_ptr<Backend> cpu = createCpuBackend();
  auto there = cpu->load(program.function(), {}, diags);
  EXPECT_EQ(results, runOnce(*there, 1, diags));
}
