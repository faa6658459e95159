//===- BackendTest.cpp - programs run as on the CPU -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include <cstring>
#include <thread>

using namespace anec;

namespace {
class AneBackend : public OnEachPath {};
} // namespace
INSTANTIATE_TEST_SUITE_P(Paths, AneBackend, testing::ValuesIn(anePaths),
                         nameOfPath);

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

TEST_P(AneBackend, SameAsCpu) {
  unsigned folders = stagedFolders();
  expectSameAsCpu(twoByTwo());
  expectSameAsCpu(convolution(0.25));
  expectNothingLeft(folders);
}

// Without attributes, names alone decide the order.
TEST_P(AneBackend, OrderByName) {
  ane_double::ledger().isQuiet = true;
  expectSameAsCpu(twoByTwo());
  ane_double::ledger().isQuiet = false;
}

TEST_P(AneBackend, PartsOfPorts) {
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
  ASSERT_TRUE(
      executable->readOutput(0, Region{0, 0, 8, 40}, difference.data(), diags));
  ASSERT_TRUE(executable->readOutput(1, Region{2, 5, 2, 3}, sum.data(), diags));
  EXPECT_EQ(sum, part);
  EXPECT_EQ(difference[2 * 40 + 6], 2);
  EXPECT_EQ(difference[3 * 40 + 7], 6);
  EXPECT_EQ(difference[0], 0);
}

// Equal programs are one to the engine; others are not, whatever their names.
TEST_P(AneBackend, EqualProgramsAreShared) {
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

/// A weight file of one record, halves that are all `value`.
static std::vector<uint8_t> weightFileOf(size_t count, uint16_t value) {
  std::vector<uint8_t> bytes(128 + 2 * count);
  auto put = [&](size_t at, uint64_t number, size_t size) {
    std::memcpy(bytes.data() + at, &number, size);
  };
  put(0, 1, 4);
  put(4, 2, 4);
  put(64, 0xdeadbeef, 4);
  put(68, 1, 4);
  put(72, 2 * count, 8);
  put(80, 128, 8);
  for (size_t i = 0; i < count; ++i)
    put(128 + 2 * i, value, 2);
  return bytes;
}

// Text goes to the compiler as it is, with each weight file that it names.
TEST_P(AneBackend, TextAsItIs) {
  unsigned folders = stagedFolders();
  TensorType type(DType::FP16, {1, 8, 1, 40});
  auto blob = [](std::string name) {
    return "val = tensor<fp16, [1, 8, 1, 40]>(BLOBFILE(path = "
           "string(\"@model_path/weights/" +
           name + "\"), offset = uint64(64)))";
  };
  ProgramText program;
  program.text = R"(program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}})]
{
  func main<ios18>(tensor<fp16, [1, 8, 1, 40]> x) {
    tensor<fp16, [1, 8, 1, 40]> a = const()[name = string("a"), )" +
                 blob("a.bin") + R"(];
    tensor<fp16, [1, 8, 1, 40]> b = const()[name = string("b"), )" +
                 blob("b.bin") + R"(];
    tensor<fp16, [1, 8, 1, 40]> p = mul(x = x, y = a)[name = string("p")];
    tensor<fp16, [1, 8, 1, 40]> y = add(x = p, y = b)[name = string("y")];
  } -> (y);
}
)";
  // 2 and 1.
  program.weightFiles = {
      {"@model_path/weights/a.bin", weightFileOf(320, 0x4000)},
      {"@model_path/weights/b.bin", weightFileOf(320, 0x3c00)}};
  program.inputs = {{"x", type}};
  program.outputs = {{"y", type}};
  // Several files are refused since.
  ane_double::ledger().system = 26.5;
  std::unique_ptr<Backend> ane = openDouble();
  ASSERT_TRUE(ane->capabilities().takesText);
  Diagnostics diags;
  {
    std::unique_ptr<Executable> executable = ane->loadText(program, diags);
    ASSERT_TRUE(executable) << textOf(diags);
    std::vector<float> x(320, 3), y(320);
    Region whole{0, 0, 8, 40};
    ASSERT_TRUE(executable->writeInput(0, whole, x.data(), diags));
    ASSERT_TRUE(executable->execute(diags)) << textOf(diags);
    ASSERT_TRUE(executable->readOutput(0, whole, y.data(), diags));
    EXPECT_EQ(y, std::vector<float>(320, 7));
    // The same again is the same program; other weights are another.
    unsigned compiles = ane_double::ledger().compiles;
    EXPECT_TRUE(ane->loadText(program, diags));
    EXPECT_EQ(ane_double::ledger().compiles, compiles);
    program.weightFiles[1].bytes = weightFileOf(320, 0);
    EXPECT_TRUE(ane->loadText(program, diags));
    EXPECT_EQ(ane_double::ledger().compiles, compiles + 1);
  }
  // A file that is missing, and one that has no place in the folder.
  program.weightFiles.pop_back();
  EXPECT_FALSE(ane->loadText(program, diags));
  EXPECT_NE(textOf(diags).find("[ane-invalid-program]"), std::string::npos);
  program.weightFiles[0].path = "@model_path/../a.bin";
  Diagnostics outside;
  EXPECT_FALSE(ane->loadText(program, outside));
  EXPECT_NE(textOf(outside).find("[ane-staging]"), std::string::npos);
  expectNothingLeft(folders);
  ane_double::ledger().system = 27;
}

TEST_P(AneBackend, LeastRecentlyUsedMakesRoom) {
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

// The daemon may forget what it compiled when a program is unloaded, which
// removes the staged folder.
TEST_P(AneBackend, CompiledProgramsMayBeForgotten) {
  unsigned folders = stagedFolders();
  {
    ane_double::ledger().traps = {"forgets"};
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
    ane_double::ledger().traps.clear();
  }
  expectNothingLeft(folders);
}

// The engine has other processes' programs, too.
TEST_P(AneBackend, MakesRoomWhenTheEngineIsFull) {
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

TEST_P(AneBackend, CompileBudget) {
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

TEST(AneBackendOnce, WhatItDoesNotHave) {
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

TEST(AneBackendOnce, NoFramework) {
  AneOptions options;
  options.framework = "/no/such/framework";
  Diagnostics diags;
  EXPECT_FALSE(createAneBackend(options, diags));
  EXPECT_NE(textOf(diags).find("[ane-no-framework]"), std::string::npos);
  EXPECT_FALSE(inspectAne(options).suffices(options.path));
  for (AnePath path : anePaths)
    EXPECT_TRUE(inspectAne(doubleOptions()).suffices(path))
        << spelling(path).str();
}

TEST_P(AneBackend, Heartbeat) {
  AneOptions options = doubleOptions();
  options.heartbeatSeconds = 0.01;
  unsigned folders = stagedFolders();
  {
    std::unique_ptr<Backend> ane = openDouble(options);
    unsigned before = ane_double::ledger().evaluations;
    for (int i = 0; i < 500 && ane_double::ledger().evaluations < before + 3;
         ++i)
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
TEST_P(AneBackend, Reuse) {
  AneOptions options = doubleOptions();
  options.reuse = true;
  TestProgram program(convolution(0.3125));
  Diagnostics diags;
  unsigned before = ane_double::ledger().compiles;
  (void)openDouble(options)->load(program.function(), {}, diags);
  unsigned first = ane_double::ledger().compiles - before;
  std::unique_ptr<Backend> again = openDouble(options);
  auto executable = again->load(program.function(), {}, diags);
  ASSERT_TRUE(executable) << textOf(diags);
  // The folder may be of an earlier test run.
  EXPECT_LE(first, 1u);
  // By E5, each process compiles its own.
  bool isReused = takesRequests(GetParam());
  EXPECT_EQ(ane_double::ledger().compiles, before + first + (isReused ? 0 : 1));
  auto results = runOnce(*executable, 1, diags);
  std::unique_ptr<Backend> cpu = createCpuBackend();
  auto there = cpu->load(program.function(), {}, diags);
  EXPECT_EQ(results, runOnce(*there, 1, diags));
}

// The methods that a path is named after are those that run.
TEST(AneBackendOnce, PathsRunByTheirOwnMethods) {
  ane_double::Ledger &ledger = ane_double::ledger();
  TestProgram program(twoByTwo());
  for (AnePath path : anePaths) {
    AneOptions options = doubleOptions();
    options.path = path;
    std::unique_ptr<Backend> ane = openDouble(options);
    Diagnostics diags;
    auto executable = ane->load(program.function(), {}, diags);
    ASSERT_TRUE(executable) << textOf(diags);
    unsigned direct = ledger.directEvaluations,
             realTime = ledger.realTimeEvaluations,
             processed = ledger.processedRequests, e5 = ledger.e5Runs,
             e5rt = ledger.e5rtRuns;
    ASSERT_FALSE(runOnce(*executable, 1, diags).empty()) << textOf(diags);
    EXPECT_EQ(ledger.directEvaluations - direct, path == AnePath::Direct);
    EXPECT_EQ(ledger.realTimeEvaluations - realTime, path == AnePath::RealTime);
    EXPECT_EQ(ledger.processedRequests - processed,
              path == AnePath::ProcessRequest);
    EXPECT_EQ(ledger.e5Runs - e5, path == AnePath::E5);
    EXPECT_EQ(ledger.e5rtRuns - e5rt, path == AnePath::E5rt);
  }
}

// A folder that lost a file is not the program any more.
TEST_P(AneBackend, ReuseOfAFolderInParts) {
  AneOptions options = doubleOptions();
  options.reuse = true;
  TestProgram program(convolution(0.4375));
  Diagnostics diags;
  ASSERT_TRUE(openDouble(options)->load(program.function(), {}, diags));
  std::error_code code;
  for (const std::string &folder :
       {inspectAne(options).temporaryFolder, daemonFolder()})
    for (llvm::sys::fs::recursive_directory_iterator it(folder, code), end;
         it != end && !code; it.increment(code)) {
      llvm::StringRef path = it->path();
      if (path.ends_with("/weight.bin") || path.ends_with("net.plist"))
        (void)llvm::sys::fs::remove(path);
    }
  auto executable = openDouble(options)->load(program.function(), {}, diags);
  ASSERT_TRUE(executable) << textOf(diags);
  EXPECT_FALSE(runOnce(*executable, 1, diags).empty()) << textOf(diags);
}

// A child that crashes, hangs, or does not start costs nothing but the program.
TEST_P(AneBackend, ChildrenThatDoNotEndWell) {
  struct Row {
    std::vector<std::string> command;
    const char *said;
  };
  const Row rows[] = {
      {{"/bin/sh", "-c", "exit 7"}, "ended with exit code 7"},
      {{"/bin/sh", "-c", "kill -SEGV $$"}, "crashed"},
      {{"/bin/sh", "-c", "sleep 60"}, "took longer than 1 seconds"},
      {{"/no/such/program"}, "/no/such/program"},
  };
  unsigned folders = stagedFolders();
  TestProgram program(convolution(0.25));
  for (const Row &row : rows) {
    AneOptions options = doubleOptions();
    options.compileCommand = row.command;
    options.compileSeconds = 1;
    std::unique_ptr<Backend> ane = openDouble(options);
    Diagnostics diags;
    EXPECT_FALSE(ane->load(program.function(), {}, diags));
    EXPECT_NE(textOf(diags).find("[ane-compile-process]"), std::string::npos);
    EXPECT_NE(textOf(diags).find(row.said), std::string::npos) << textOf(diags);
  }
  // One that ends well but did nothing: the program is compiled here, which
  // counts from then on.
  {
    AneOptions options = doubleOptions();
    options.compileCommand = {"/bin/true"};
    std::unique_ptr<Backend> ane = openDouble(options);
    EXPECT_FALSE(ane->loadsLeft());
    Diagnostics diags;
    auto executable = ane->load(program.function(), {}, diags);
    ASSERT_TRUE(executable) << textOf(diags);
    EXPECT_NE(textOf(diags).find("[ane-compiled-unseen]"), std::string::npos);
    EXPECT_FALSE(runOnce(*executable, 1, diags).empty());
    EXPECT_TRUE(ane->loadsLeft());
  }
  expectNothingLeft(folders);
}
