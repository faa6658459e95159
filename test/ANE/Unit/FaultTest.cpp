//===- FaultTest.cpp - calls that fail, one after the other ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Programs.h"

using namespace anec;
using ane_double::ledger;

namespace {
class AneFaults : public OnEachPath {};
} // namespace
INSTANTIATE_TEST_SUITE_P(Paths, AneFaults, testing::ValuesIn(anePaths),
                         nameOfPath);

/// Fails the `number`th call from now on, and so many after it.
static void failCall(unsigned number, const char *failure, unsigned count = 1) {
  ledger().calls = 0;
  ledger().failCount = count;
  ledger().failure = failure;
  ledger().failAt = number;
}

static void failNone() { ledger().failAt = 0; }

/// Loads and runs once; whether both went well.
static bool runOne(Diagnostics &diags) {
  TestProgram program(convolution(0.25));
  std::unique_ptr<Backend> ane = createAneBackend(doubleOptions(), diags);
  if (!ane)
    return false;
  std::unique_ptr<Executable> executable =
      ane->load(program.function(), {}, diags);
  return executable && !runOnce(*executable, 1, diags).empty();
}

// At whatever call it fails, and however: it is said, and nothing is left.
TEST_P(AneFaults, EveryCall) {
  Diagnostics diags;
  failCall(0, "");
  unsigned folders = stagedFolders();
  ASSERT_TRUE(runOne(diags)) << textOf(diags);
  unsigned calls = ledger().calls;
  ASSERT_GT(calls, 14u);
  for (const char *how : {"", "something else", "raise", "throw"})
    for (unsigned number = 1; number <= calls; ++number) {
      Diagnostics said;
      failCall(number, how);
      bool ok = runOne(said);
      failNone();
      // Only what the backend can do without may fail unseen: asking whether
      // there is something to reuse, attributes, and unloading at the end.
      EXPECT_EQ(ok, !said.hasErrors()) << number << ": " << textOf(said);
      expectNothingLeft(folders);
    }
}

/// Runs two programs, of which one at a time is loaded, and the first again.
static bool runInTurn(Diagnostics &diags) {
  AneOptions options = doubleOptions();
  options.loadedLimit = 1;
  TestProgram first(convolution(0.25)), second(convolution(0.5));
  std::unique_ptr<Backend> ane = createAneBackend(options, diags);
  if (!ane)
    return false;
  auto a = ane->load(first.function(), {}, diags);
  auto b = a ? ane->load(second.function(), {}, diags) : nullptr;
  if (!b)
    return false;
  auto before = runOnce(*a, 1, diags);
  if (before.empty() || runOnce(*b, 1, diags).empty())
    return false;
  auto after = runOnce(*a, 1, diags);
  EXPECT_TRUE(after.empty() || after == before);
  return !after.empty();
}

/// Runs a program that is loaded again for each run.
static bool runReloaded(Diagnostics &diags) {
  AneOptions options = doubleOptions();
  options.runsPerLoad = 1;
  TestProgram program(convolution(0.25));
  std::unique_ptr<Backend> ane = createAneBackend(options, diags);
  auto executable = ane ? ane->load(program.function(), {}, diags) : nullptr;
  if (!executable)
    return false;
  for (int run = 0; run < 3; ++run)
    if (runOnce(*executable, 1, diags).empty())
      return false;
  return true;
}

// The same while programs make room for each other or are loaded again, and
// unloading takes the staged files away, and what was compiled.
TEST_P(AneFaults, EveryCallInTurn) {
  struct Row {
    bool (*run)(Diagnostics &);
    std::set<std::string> traps;
  };
  const Row rows[] = {{runInTurn, {}},
                      {runInTurn, {"forgets"}},
                      {runReloaded, {}},
                      {runReloaded, {"forgets", "short-requests"}}};
  for (const auto &[run, traps] : rows) {
    ledger().traps = traps;
    Diagnostics diags;
    failCall(0, "");
    unsigned folders = stagedFolders();
    ASSERT_TRUE(run(diags)) << textOf(diags);
    unsigned calls = ledger().calls;
    ASSERT_GT(calls, 30u);
    for (const char *how : {"something else", "", "raise"})
      for (unsigned number = 1; number <= calls; ++number) {
        Diagnostics said;
        failCall(number, how);
        bool ok = run(said);
        failNone();
        EXPECT_EQ(ok, !said.hasErrors()) << number << ": " << textOf(said);
        expectNothingLeft(folders);
      }
  }
  ledger().traps.clear();
}

// A call that failed leaves nothing half done: the same programs run again,
// with the same results.
TEST_P(AneFaults, RunsAgainAfterEachCall) {
  ledger().traps = {"forgets"};
  unsigned folders = stagedFolders();
  for (const char *how : {"something else", "", "raise"}) {
    AneOptions options = doubleOptions();
    options.loadedLimit = 1;
    Diagnostics diags;
    failNone();
    TestProgram first(convolution(0.25)), second(convolution(0.5));
    auto ane = openDouble(options);
    auto a = ane->load(first.function(), {}, diags);
    auto b = ane->load(second.function(), {}, diags);
    ASSERT_TRUE(a && b) << textOf(diags);
    auto runBoth = [&](Diagnostics &said) {
      return std::pair(runOnce(*a, 1, said), runOnce(*b, 1, said));
    };
    failCall(0, "");
    auto expected = runBoth(diags);
    unsigned calls = ledger().calls;
    ASSERT_FALSE(expected.first.empty() || expected.second.empty());
    for (unsigned number = 1; number <= calls; ++number) {
      Diagnostics said, none;
      failCall(number, how);
      auto results = runBoth(said);
      failNone();
      // What ran is right.
      EXPECT_TRUE(results.first.empty() || results.first == expected.first);
      EXPECT_TRUE(results.second.empty() || results.second == expected.second);
      EXPECT_EQ(runBoth(none), expected) << number << ": " << textOf(none);
    }
  }
  ledger().traps.clear();
  expectNothingLeft(folders);
}

/// What a failure of the call that `stage` is comes out as.
static std::string messageFor(const char *failure, unsigned stage) {
  Diagnostics said;
  // whether the machine is virtual, descriptor, model, name, compile, load,
  // inner model, attributes, then surfaces
  failCall(stage, failure, 1000);
  EXPECT_FALSE(runOne(said));
  failNone();
  return textOf(said);
}
static constexpr unsigned descriptorCall = 2, modelCall = 3, nameCall = 4,
                          compileCall = 5, loadCall = 6, surfaceCall = 9;
// By the client, after the first: client, model, compile, load
static constexpr unsigned clientCall = 2, clientModelCall = 3,
                          clientCompileCall = 4, clientLoadCall = 5;
// By E5: compilation, library, preparing it; constraint and description of
// each port and of the model, engine, preparing it
static constexpr unsigned e5CompileCall = 4, e5LoadCall = 11;
// By its runtime: seven calls for the settings of the compiler, compiling,
// function, two calls for the settings of the operation
static constexpr unsigned e5rtCompileCall = 9, e5rtLoadCall = 10;

/// The call that loads, by each path.
static unsigned loadCallOf(AnePath path) {
  switch (path) {
  case AnePath::InMemory:
  case AnePath::ProcessRequest:
    return loadCall;
  case AnePath::Client:
  case AnePath::Direct:
  case AnePath::RealTime:
    return clientLoadCall;
  case AnePath::E5:
    return e5LoadCall;
  case AnePath::E5rt:
    return e5rtLoadCall;
  }
  return 0;
}

TEST(AneFaultsOnce, Decoded) {
  struct Row {
    const char *failure;
    unsigned call;
    const char *expected;
  };
  const Row rows[] = {
      {"", descriptorCall, "[ane-no-object]"},
      {"", modelCall, "no model: it gave nil [ane-no-object]"},
      {"", nameCall, "[ane-no-object]"},
      {"raise", descriptorCall, "NSInvalidArgumentException was raised"},
      {"InvalidMILProgram", compileCall, "[ane-invalid-program]"},
      {"", compileCall,
       "compiling failed: the engine's compiler rejects a valid program "
       "without "
       "a reason (no error given)"},
      {"ANECCompile() FAILED: err=()", compileCall, "[ane-refused]"},
      {"raise", compileCall, "[framework-unknown]"},
      {"Program load failure (0x50004)", loadCall, "[ane-too-many-programs]"},
      {"Program load failure (0x20004)", loadCall, "[ane-memory-window]"},
      {"status=0x5", loadCall, "[ane-busy]"},
      {"Request cancelled", loadCall, "[ane-cancelled]"},
      {"NSCocoaErrorDomain 4097: the connection was interrupted", loadCall,
       "[ane-interrupted]"},
      {"throw", loadCall, "an object that is not an exception was thrown"},
      {"status=0x1d", loadCall, "[ane-surface-size]"},
      {"needs the entitlement com.apple.aned", loadCall, "[ane-not-allowed]"},
      {"Program load failed - no memory (transient)", loadCall,
       "(com.apple.appleneuralengine 1: Program load failed - no memory "
       "(transient)); free memory"},
      {"device power-on failed (transient; retry)", loadCall, "[ane-power-on]"},
      {"status=0x77", loadCall,
       "com.apple.appleneuralengine 1: status=0x77; please report it "
       "[framework-unknown]"},
      {"", surfaceCall, "[ane-surface]"},
  };
  for (const Row &row : rows) {
    std::string said = messageFor(row.failure, row.call);
    EXPECT_NE(said.find(row.expected), std::string::npos)
        << row.failure << " gave " << said;
  }
}

TEST(AneFaultsOnce, DecodedByTheClient) {
  struct Row {
    const char *failure;
    unsigned call;
    const char *expected;
  };
  const Row rows[] = {
      {"", clientModelCall, "no model: it gave nil [ane-no-object]"},
      {"raise", clientModelCall, "NSInvalidArgumentException was raised"},
      {"InvalidMILProgram", clientCompileCall, "[ane-invalid-program]"},
      {"cannot open model.espresso.net", clientCompileCall,
       "[ane-not-taken-for-mil]"},
      {"Program load failure (0x50004)", clientLoadCall,
       "[ane-too-many-programs]"},
  };
  testedPath = AnePath::Client;
  for (const Row &row : rows) {
    std::string said = messageFor(row.failure, row.call);
    EXPECT_NE(said.find(row.expected), std::string::npos)
        << row.failure << " gave " << said;
  }
  for (const char *how : {"", "raise"}) {
    Diagnostics diags;
    failCall(clientCall, how);
    EXPECT_FALSE(createAneBackend(doubleOptions(), diags));
    failNone();
    EXPECT_NE(textOf(diags).find("no client: "), std::string::npos);
  }
  testedPath = AnePath::InMemory;
}

TEST(AneFaultsOnce, DecodedByE5) {
  struct Row {
    AnePath path;
    const char *failure;
    unsigned call;
    const char *expected;
  };
  const Row rows[] = {
      {AnePath::E5, "", 2, "there is no compilation of the text"},
      {AnePath::E5, "", 3, "there is no program library"},
      {AnePath::E5, "InvalidMILProgram", e5CompileCall,
       "[ane-invalid-program]"},
      {AnePath::E5, "", 5, "there is no description of the model"},
      {AnePath::E5, "", e5LoadCall - 1,
       "there is no engine for the program library"},
      {AnePath::E5, "Program load failure (0x50004)", e5LoadCall,
       "[ane-too-many-programs]"},
      {AnePath::E5rt, "", 2, "e5rt 1: e5rt_e5_compiler_config_options_create"},
      {AnePath::E5rt, "InvalidMILProgram", e5rtCompileCall,
       "e5rt_e5_compiler_compile: InvalidMILProgram"},
      {AnePath::E5rt, "Program load failure (0x50004)", e5rtLoadCall,
       "[ane-too-many-programs]"},
  };
  for (const Row &row : rows) {
    testedPath = row.path;
    std::string said = messageFor(row.failure, row.call);
    EXPECT_NE(said.find(row.expected), std::string::npos)
        << row.failure << " gave " << said;
  }
  testedPath = AnePath::InMemory;
}

// Where the error names a place, it is shown.
TEST(AneFaultsOnce, PlaceInTheText) {
  std::string said =
      messageFor("InvalidMILProgram: model.mil:4:5: no such op", compileCall);
  EXPECT_NE(said.find("model.mil:4:5: error: compiling failed"),
            std::string::npos)
      << said;
  said = messageFor("InvalidMILProgram at line 4, column 2", compileCall);
  EXPECT_NE(said.find("model.mil:4:2: error:"), std::string::npos) << said;
  said = messageFor("InvalidMILProgram at line 99999", compileCall);
  EXPECT_NE(said.find("error: compiling failed"), std::string::npos) << said;
}

// What passes is waited for.
TEST_P(AneFaults, TransientStatuses) {
  for (const char *failure :
       {"status=0x5", "Request cancelled", "NSCocoaErrorDomain 4097"}) {
    Diagnostics said;
    // A retry by E5 makes other calls before this one.
    failCall(loadCallOf(GetParam()), failure,
             takesRequests(GetParam()) ? 3 : 1);
    EXPECT_TRUE(runOne(said)) << textOf(said);
    failNone();
  }
}

TEST_P(AneFaults, ThousandRuns) {
  unsigned folders = stagedFolders();
  {
    std::unique_ptr<Backend> ane = openDouble();
    Diagnostics diags;
    TestProgram program(twoByTwo());
    auto executable = ane->load(program.function(), {}, diags);
    ASSERT_TRUE(executable);
    unsigned calls = ledger().requests;
    for (int i = 0; i < 900; ++i)
      ASSERT_FALSE(runOnce(*executable, i, diags).empty()) << textOf(diags);
    // One request, used again and again.
    EXPECT_EQ(ledger().requests, int(calls));
  }
  for (int i = 0; i < 100; ++i) {
    Diagnostics diags;
    ASSERT_TRUE(runOne(diags)) << textOf(diags);
  }
  expectNothingLeft(folders);
}
