//===- BackendsTest.cpp - the table of backends ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/Backends.h"
#include "anec/Runtime/ANE/AneBackend.h"
#include "lib/IR/Builder.h"
#include "lib/IR/OpDef.h"
#include "gtest/gtest.h"

using namespace anec;

static constexpr Platform appleSilicon{true, true}, intelMac{true, false},
    linuxMachine{false, false};

/// The table of a program with the engine's library, or without.
static Backends backends(bool hasAne) {
  Backends table = Backends::builtin();
  BackendRow ane = aneBackendNotBuilt();
  ane.isBuilt = hasAne;
  table.add(std::move(ane));
  return table;
}

TEST(Backends, DefaultOfPlatforms) {
  EXPECT_EQ(backends(true).defaultFor(appleSilicon).name, "ane");
  EXPECT_EQ(backends(false).defaultFor(appleSilicon).name, "cpu");
  for (const Platform &other : {intelMac, linuxMachine})
    for (bool hasAne : {false, true})
      EXPECT_EQ(backends(hasAne).defaultFor(other).name, "cpu");
}

// What this build is for.
TEST(Backends, DefaultHere) {
  Platform here = thisPlatform();
#if defined(__APPLE__) && defined(__arm64__)
  EXPECT_TRUE(here.hasEngine());
#else
  EXPECT_FALSE(here.isAppleSilicon);
  EXPECT_EQ(backends(true).defaultFor(here).name, "cpu");
#endif
}

// A need that one backend alone meets chooses it, whatever is preferred; needs
// that none meets are an error elsewhere, and choose nothing.
TEST(Backends, ChoosesByNeeds) {
  Backends table = backends(true);
  auto hasPath = [](const BackendRow &row) { return row.findOption("path"); };
  auto hasNumerics = [](const BackendRow &row) {
    return row.capabilities.hasNumerics;
  };
  for (const char *preferred : {"cpu", "ane"}) {
    const BackendRow &row = *table.find(preferred);
    EXPECT_EQ(&table.choose(row, {}), &row);
    EXPECT_EQ(table.choose(row, {hasNumerics}).name, "cpu");
    EXPECT_EQ(table.choose(row, {hasPath}).name, "ane");
    EXPECT_EQ(&table.choose(row, {hasPath, hasNumerics}), &row);
  }
}

TEST(Backends, ChecksOptions) {
  Backends table = backends(false);
  const BackendRow &ane = *table.find("ane");
  EXPECT_EQ(ane.valueOf("path", {}), "in-memory");
  EXPECT_EQ(ane.valueOf("path", {.values = {{"path", "direct"}}}), "direct");
  EXPECT_EQ(ane.valueOf("other", {}), "");
  EXPECT_EQ(ane.findOption("compile-limit")->check("0"),
            "compile-limit is at least 1");
  EXPECT_EQ(ane.findOption("heartbeat")->check("-1"),
            "heartbeat takes a number of seconds");
  EXPECT_EQ(ane.findOption("path")->check("client"), "");
  EXPECT_NE(ane.findOption("path")->check("other"), "");
  for (const BackendOption &option : ane.options)
    EXPECT_EQ(option.check(option.initial), "") << option.name.str();

  auto idOf = [&](llvm::StringRef backend, const BackendSettings &settings) {
    Diagnostics diags;
    EXPECT_FALSE(table.open(backend, settings, diags));
    return "[" + std::string(diags.all().front().kind->id) + "]";
  };
  EXPECT_EQ(idOf("gpu", {}), "[no-such-backend]");
  EXPECT_EQ(idOf("cpu", {.values = {{"path", "client"}}}),
            "[no-such-backend-option]");
  EXPECT_EQ(idOf("ane", {.values = {{"path", "other"}}}),
            "[backend-option-value]");
  EXPECT_EQ(idOf("ane", {}), "[ane-not-built]");
}

TEST(Backends, OptionsOfTheEngine) {
  AneOptions options = aneOptions({});
  AneOptions initial;
  EXPECT_EQ(options.path, initial.path);
  EXPECT_EQ(options.compileLimit, initial.compileLimit);
  EXPECT_EQ(options.mostWeightFiles, initial.mostWeightFiles);
  EXPECT_EQ(options.heartbeatSeconds, initial.heartbeatSeconds);
  EXPECT_EQ(options.reuse, initial.reuse);
  options = aneOptions({.values = {{"path", "real-time"},
                                   {"compile-limit", "7"},
                                   {"weight-files", "16"},
                                   {"reload-after", "9"},
                                   {"heartbeat", "2.5"},
                                   {"reuse-compiled", "true"},
                                   {"isolate", "true"},
                                   {"framework", "/a/double.so"}},
                        .helperCommand = {"tool", "compile-staged"}});
  EXPECT_EQ(options.runsPerLoad, 9u);
  EXPECT_EQ(options.path, AnePath::RealTime);
  EXPECT_EQ(options.compileLimit, 7u);
  EXPECT_EQ(options.mostWeightFiles, 16u);
  EXPECT_EQ(options.heartbeatSeconds, 2.5);
  EXPECT_TRUE(options.reuse);
  EXPECT_EQ(options.framework, "/a/double.so");
  EXPECT_EQ(
      options.compileCommand,
      (std::vector<std::string>{"tool", "compile-staged", "--path=real-time"}));
}

namespace {
/// A backend of a program that uses the library: gives zeros.
class Nothing : public Backend {
public:
  using Backend::Backend;
  std::unique_ptr<Executable> load(const Function &function,
                                   const LoadOptions &,
                                   Diagnostics &diags) override {
    loads += checkPorts(function, diags);
    return nullptr;
  }
  int loads = 0;
};
} // namespace

// A program adds a row of its own, and opens it as any other.
TEST(Backends, TakesOthers) {
  static constexpr BackendOption options[] = {{"depth", BackendOption::Count,
                                               BackendOption::Program,
                                               "how deep", "N", "3"}};
  BackendRow row;
  row.name = "nothing";
  row.summary = "no machine";
  row.capabilities.portTypes = {DType::FP16};
  row.options = options;
  row.machine = [](const BackendSettings &) { return MachineNames(); };
  row.open = [row](const BackendSettings &, Diagnostics &) {
    return std::make_unique<Nothing>(row.name, row.capabilities);
  };
  Backends table = Backends::builtin();
  size_t count = table.rows().size();
  table.add(row);
  ASSERT_EQ(table.rows().size(), count + 1);
  Diagnostics diags;
  std::unique_ptr<Backend> backend =
      table.open("nothing", {.values = {{"depth", "4"}}}, diags);
  ASSERT_TRUE(backend);
  EXPECT_EQ(backend->name(), "nothing");
  // What the row does not list is refused by all backends in the same words.
  Module module;
  Function *function = module.addFunction(FunctionKind::Kernel, "main");
  Value *x = function->addParameter(TensorType(DType::FP32, {4}), "x");
  function->setResults({x});
  EXPECT_FALSE(backend->load(*function, {}, diags));
  EXPECT_EQ(static_cast<Nothing &>(*backend).loads, 0);
  EXPECT_EQ(std::string(diags.all().front().kind->id), "backend-lacks-type");
}

// Indices begin at 0, counts at 1.
TEST(Backends, NumbersOfOptions) {
  BackendOption index{"procedure", BackendOption::Index, BackendOption::Program,
                      "which one"};
  BackendOption count = index;
  count.kind = BackendOption::Count;
  EXPECT_EQ(index.check("0"), "");
  EXPECT_EQ(index.check("7"), "");
  EXPECT_EQ(index.check("-1"), "procedure is a whole number from 0");
  EXPECT_NE(index.check("first"), "");
  EXPECT_NE(count.check("0"), "");
  EXPECT_EQ(count.check("1"), "");
}
