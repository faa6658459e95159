//===- MeasureTest.mm - each measure, taken and left out ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// For each measure that the backend takes because of a system, a situation in
/// which it is right with the measure and goes wrong without. A measure whose
/// row passes both ways would be one that does nothing, or one that the double
/// cannot show.
///
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "lib/Runtime/Apple/Measures.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <fstream>
#include <thread>

using namespace anec;
using ane_double::ledger;
using apple::Measure;

static constexpr const char *ids[] = {
#define MEASURE(NAME, ID) ID,
#include "lib/Runtime/Apple/Measures.def"
};

//===----------------------------------------------------------------------===//
// What a run comes to: empty when it is right
//===----------------------------------------------------------------------===//

/// Whether `executable` computes what the CPU backend does.
static std::string compare(Executable &executable, const std::string &text) {
  TestProgram program(text);
  Diagnostics diags;
  auto cpu = createCpuBackend();
  auto there = cpu->load(program.function(), {}, diags);
  auto results = runOnce(executable, 1, diags);
  if (results.empty())
    return textOf(diags);
  return results == runOnce(*there, 1, diags) ? "" : "other values";
}

static std::string run(const std::string &text,
                       const AneOptions &options = doubleOptions()) {
  TestProgram program(text);
  Diagnostics diags;
  auto backend = createAneBackend(options, diags);
  auto executable =
      backend ? backend->load(program.function(), {}, diags) : nullptr;
  return executable ? compare(*executable, text) : textOf(diags);
}

static std::string runTwoByTwo() { return run(twoByTwo()); }

/// Empty when `said` has `expected`.
static std::string expectIn(const std::string &said, const char *expected) {
  return said.find(expected) != std::string::npos
             ? ""
             : "there is no " + std::string(expected) + " in: " + said;
}

//===----------------------------------------------------------------------===//
// Situations
//===----------------------------------------------------------------------===//

/// The staged weight files, of any process.
static std::set<std::string> weightFiles() {
  std::set<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator
           it(inspectAne(doubleOptions()).temporaryFolder, code, false),
       end;
       it != end && !code; it.increment(code))
    if (llvm::StringRef(it->path()).ends_with("/weight.bin"))
      files.insert(it->path());
  return files;
}

/// A program is loaded twice by processes that share programs. In between, what
/// was compiled is gone, and `spoil` gets the path of the staged weight file.
static std::string
runWithSpoiltFolder(llvm::function_ref<void(const std::string &)> spoil) {
  AneOptions options = doubleOptions();
  options.reuse = true;
  TestProgram program(convolution(0.8125));
  Diagnostics diags;
  std::set<std::string> before = weightFiles();
  auto first = createAneBackend(options, diags);
  auto loaded = first->load(program.function(), {}, diags);
  if (!loaded)
    return textOf(diags);
  (void)llvm::sys::fs::remove_directories(daemonFolder());
  for (const std::string &file : weightFiles())
    if (!before.count(file))
      spoil(file);
  return run(convolution(0.8125), options);
}

static std::string runWithOtherBytes() {
  return runWithSpoiltFolder([](const std::string &file) {
    std::ofstream(file, std::ios::app) << "more";
  });
}

static std::string runWithLinks() {
  llvm::SmallString<128> aside;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("aside", aside));
  std::string result = runWithSpoiltFolder([&](const std::string &file) {
    std::string copy = (aside + "/copy").str();
    EXPECT_FALSE(llvm::sys::fs::copy_file(file, copy));
    EXPECT_FALSE(llvm::sys::fs::remove(file));
    EXPECT_FALSE(llvm::sys::fs::create_link(copy, file));
  });
  (void)llvm::sys::fs::remove_directories(aside);
  return result;
}

static std::string runWithSeveralFiles() {
  AneOptions options = doubleOptions();
  options.mostWeightFiles = 16;
  return expectIn(run(twoArrays(), options), "of the program is what the "
                                             "framework expects");
}

static std::string runOnVirtualMachine() {
  unsigned compiles = ledger().compiles;
  std::string said = runTwoByTwo();
  return ledger().compiles == compiles ? expectIn(said, "[ane-virtual-machine]")
                                       : "it was compiled: " + said;
}

/// Loads programs until that fails, and keeps them. What was said.
static std::string loadMany(const AneOptions &options, unsigned count) {
  Diagnostics diags;
  auto backend = createAneBackend(options, diags);
  std::vector<std::unique_ptr<Executable>> kept;
  for (unsigned i = 1; i <= count && !diags.hasErrors(); ++i) {
    TestProgram program(convolution(0.125 * i));
    kept.push_back(backend->load(program.function(), {}, diags));
  }
  return textOf(diags);
}

static std::string runToTheCompileLimit() {
  AneOptions options = doubleOptions();
  options.compiles = nullptr;
  options.compileLimit = 2;
  ledger().compiles = 0;
  ledger().compileLimit = 3;
  return expectIn(loadMany(options, 5), "[ane-compile-budget]");
}

static std::string runToTheLoadedLimit() {
  ledger().loadedLimit = 2;
  return loadMany(doubleOptions(), 4);
}

static std::string runLoadedAgain(unsigned runsPerLoad) {
  AneOptions options = doubleOptions();
  options.runsPerLoad = runsPerLoad;
  TestProgram program(convolution(0.25));
  Diagnostics diags;
  auto backend = createAneBackend(options, diags);
  auto executable = backend->load(program.function(), {}, diags);
  if (!executable)
    return textOf(diags);
  std::string wrong;
  for (int run = 0; run < 30 && wrong.empty(); ++run)
    wrong = compare(*executable, convolution(0.25));
  return wrong;
}

static std::string runForgotten() { return runLoadedAgain(1); }

static std::string runManyTimes() {
  ledger().fastRuns = 10;
  ledger().slowRuns = 0;
  std::string wrong = runLoadedAgain(10);
  return ledger().slowRuns && wrong.empty() ? "runs were slow" : wrong;
}

static std::string runAfterSleep() {
  ledger().sleepSeconds = 1000;
  TestProgram program(twoByTwo());
  Diagnostics diags;
  auto backend = createAneBackend(doubleOptions(), diags);
  auto executable = backend->load(program.function(), {}, diags);
  if (!executable || !executable->execute(diags))
    return textOf(diags);
  ledger().sleepSeconds = 0.2;
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  return executable->execute(diags) ? "" : textOf(diags);
}

static std::string runIdle() {
  ledger().odd = "idle";
  return expectIn(runTwoByTwo(), "[ane-nothing-computed]");
}

static std::string runHere() {
  AneOptions options = doubleOptions();
  options.hasOwnProcess = false;
  return expectIn(run(twoByTwo(), options), "[ane-own-process]");
}

/// What the table of backends names after the message of a bundle.
static std::string askForOtherPath() {
  BackendRow row = aneBackend();
  std::string other = row.otherPath(
      {}, "compiling failed: ... (com.apple.appleneuralengine 10: "
          "verifyBundleAtPath: invalid model)");
  EXPECT_EQ(row.otherPath({}, "ANECCompile() FAILED"), "");
  return other == "client" ? "" : "there is no other path";
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct Row {
  Measure measure;
  std::string (*run)() = runTwoByTwo;
  std::set<std::string> traps = {};
  AnePath path = AnePath::InMemory;
};

class AneMeasures : public testing::TestWithParam<Row> {
protected:
  void SetUp() override { reset(); }
  void TearDown() override { reset(); }

private:
  static void reset() {
    apple::takeAll();
    testedPath = AnePath::InMemory;
    ledger().system = 27;
    ledger().traps.clear();
    ledger().odd.clear();
    ledger().sleepSeconds = 5;
    ledger().fastRuns = 25000;
    ledger().loadedLimit = 127;
    ledger().compileLimit = 1u << 30;
  }
};
} // namespace

static std::string runConvolution() { return run(convolution(0.25)); }
static std::string runThird() { return run(third()); }
static std::string runTwoArrays() { return run(twoArrays()); }

static const Row rows[] = {
    {Measure::TextAsData},
    {Measure::EmptyWeights},
    {Measure::StagedInPlace, runConvolution},
    {Measure::SameBytes, runWithOtherBytes},
    {Measure::NoLinks, runWithLinks},
    {Measure::OneWeightFile, runTwoArrays},
    {Measure::KnownKeys, runThird, {"own-keys"}},
    {Measure::ModelType, runTwoByTwo, {}, AnePath::Client},
    {Measure::VirtualMachine, runOnVirtualMachine, {"virtual-machine"}},
    {Measure::CompileLimit, runToTheCompileLimit},
    {Measure::Eviction, runToTheLoadedLimit},
    {Measure::NewModel, runForgotten, {"forgets"}},
    {Measure::NamedFiles, runWithSeveralFiles},
    {Measure::OtherPath, askForOtherPath},
    {Measure::OwnProcess, runHere, {}, AnePath::E5},
    {Measure::OwnProcess, runHere, {}, AnePath::E5rt},
    {Measure::InnerAttributes, runTwoByTwo, {"packed-rows"}},
    {Measure::EitherKey, runTwoByTwo, {"packed-rows", "symbol-keys"}},
    {Measure::AllLists, runTwoByTwo, {"packed-rows", "input-params"}},
    {Measure::ReportedRows, runTwoByTwo, {"packed-rows"}},
    {Measure::PaddedRows},
    {Measure::SymbolOrder},
    {Measure::NoStatistics},
    {Measure::ShortRequest, runTwoByTwo, {"short-requests"}},
    {Measure::StringId, runTwoByTwo, {}, AnePath::ProcessRequest},
    {Measure::CancelledRetry, runAfterSleep},
    {Measure::LoadedAgain, runManyTimes, {"decay"}},
    {Measure::MarkedOutputs, runIdle, {}, AnePath::E5},
    {Measure::MarkedOutputs, runIdle, {}, AnePath::E5rt},
};

static std::string nameOfRow(const testing::TestParamInfo<Row> &info) {
  std::string name = ids[unsigned(info.param.measure)];
  std::replace(name.begin(), name.end(), '-', '_');
  std::string path = spelling(info.param.path).str();
  std::replace(path.begin(), path.end(), '-', '_');
  return name + "_" + path;
}
INSTANTIATE_TEST_SUITE_P(All, AneMeasures, testing::ValuesIn(rows), nameOfRow);

TEST_P(AneMeasures, RightWithIt) {
  testedPath = GetParam().path;
  ledger().traps = GetParam().traps;
  EXPECT_EQ(GetParam().run(), "");
}

TEST_P(AneMeasures, WrongWithoutIt) {
  testedPath = GetParam().path;
  ledger().traps = GetParam().traps;
  apple::leaveOut(GetParam().measure);
  std::string wrong = GetParam().run();
  EXPECT_NE(wrong, "") << ids[unsigned(GetParam().measure)];
  RecordProperty("wrong", wrong);
}

TEST(AneMeasuresOnce, EachHasARow) {
  for (unsigned measure = 0; measure < std::size(ids); ++measure)
    EXPECT_TRUE(std::any_of(
        std::begin(rows), std::end(rows),
        [&](const Row &row) { return row.measure == Measure(measure); }))
        << ids[measure];
}

// No staged folder has a link, by any path: the framework of macOS 27 refuses
// bundles with links, and the double does.
TEST(AneMeasuresOnce, NoLinksInStagedFolders) {
  for (AnePath path : anePaths) {
    testedPath = path;
    AneOptions options = doubleOptions();
    TestProgram program(convolution(0.25));
    Diagnostics diags;
    auto backend = createAneBackend(options, diags);
    auto executable = backend->load(program.function(), {}, diags);
    ASSERT_TRUE(executable) << textOf(diags);
    unsigned files = 0;
    std::error_code code;
    for (llvm::sys::fs::recursive_directory_iterator
             it(inspectAne(options).temporaryFolder, code, false),
         end;
         it != end && !code; it.increment(code)) {
      EXPECT_FALSE(llvm::sys::fs::is_symlink_file(it->path())) << it->path();
      files += llvm::sys::fs::is_regular_file(it->path());
    }
    EXPECT_GE(files, 2u);
  }
  testedPath = AnePath::InMemory;
}
