//===- BackendTest.cpp - tests of the coreml backend ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../../../ANE/Unit/Programs.h"
#include "anec/Runtime/CoreML/CoreMLBackend.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include <thread>

using namespace anec;
using ane_double::ledger;

static CoreMLBackendOptions
coreMLDouble(ComputeUnits units = ComputeUnits::All) {
  CoreMLBackendOptions options;
  options.units = units;
  options.framework = ANE_DOUBLE;
  return options;
}

/// A state that adds up what it is given.
static const char accumulator[] = R"(program(1.3)
{
  func main<ios18>(state<tensor<fp16, [3, 5]>> s, tensor<fp16, [3, 5]> x) {
    tensor<fp16, [3, 5]> r = read_state(input = s)[name = string("r")];
    tensor<fp16, [3, 5]> y = add(x = x, y = r)[name = string("y")];
    write_state(data = y, input = s)[name = string("w")];
  } -> (y);
}
)";

/// Fails the `number`th call from now on.
static void failCall(unsigned number, const char *failure) {
  ledger().calls = 0;
  ledger().failCount = 1;
  ledger().failure = failure;
  ledger().failAt = number;
}

/// Whatever a program of `text` computes in two runs, and its state.
static std::vector<std::vector<uint8_t>>
runTwice(const std::string &text, Backend *backend, Diagnostics &diags) {
  TestProgram program(text);
  if (!backend)
    return {};
  std::unique_ptr<Executable> executable =
      backend->load(program.function(), {}, diags);
  if (!executable)
    return {};
  auto results = runOnce(*executable, 1, diags);
  auto more = results.empty() ? results : runOnce(*executable, 2, diags);
  if (more.empty())
    return {};
  results.insert(results.end(), more.begin(), more.end());
  for (unsigned i = 0; i < executable->states().size(); ++i) {
    std::vector<uint8_t> state(executable->states()[i].type.numBytes());
    if (!executable->getState(i, state, diags) ||
        !executable->setState(i, state, diags))
      return {};
    results.push_back(state);
  }
  return results;
}

// At whatever call it fails, and however: it is said, and nothing is left.
TEST(CoreMLBackend, EveryCallFails) {
  for (const std::string &text :
       {convolution(0.25), std::string(accumulator)}) {
    unsigned folders = stagedFolders();
    Diagnostics diags;
    failCall(0, "");
    auto expected =
        runTwice(text, createCoreMLBackend(coreMLDouble(), diags).get(), diags);
    ASSERT_FALSE(expected.empty()) << textOf(diags);
    unsigned calls = ledger().calls;
    ASSERT_GT(calls, 12u);
    for (const char *how : {"", "something else", "raise", "throw"})
      for (unsigned number = 1; number <= calls; ++number) {
        Diagnostics said;
        failCall(number, how);
        auto results = runTwice(
            text, createCoreMLBackend(coreMLDouble(), said).get(), said);
        ledger().failAt = 0;
        EXPECT_EQ(results.empty(), said.hasErrors())
            << number << " " << how << ": " << textOf(said);
        EXPECT_TRUE(results.empty() || results == expected);
        expectNothingLeft(folders);
      }
  }
}

// The bits of the CPU backend, by all units.
TEST(CoreMLBackend, SameBits) {
  std::unique_ptr<Backend> cpu = createCpuBackend();
  for (ComputeUnits units : {ComputeUnits::All, ComputeUnits::CpuAndEngine,
                             ComputeUnits::CpuAndGpu, ComputeUnits::Cpu})
    for (const std::string &text :
         {twoByTwo(), convolution(0.25), std::string(accumulator)}) {
      Diagnostics diags;
      auto expected = runTwice(text, cpu.get(), diags);
      auto results = runTwice(
          text, createCoreMLBackend(coreMLDouble(units), diags).get(), diags);
      EXPECT_FALSE(expected.empty());
      EXPECT_EQ(results, expected) << textOf(diags);
    }
}

// Executables with equal programs share a model, of which Core ML takes one
// thread at a time, and have states of their own.
TEST(CoreMLBackend, SharedModel) {
  Diagnostics diags;
  std::unique_ptr<Backend> coreML = createCoreMLBackend(coreMLDouble(), diags);
  ASSERT_TRUE(coreML) << textOf(diags);
  TestProgram program(accumulator);
  auto first = coreML->load(program.function(), {}, diags);
  auto second = coreML->load(program.function(), {}, diags);
  ASSERT_TRUE(first && second) << textOf(diags);
  EXPECT_EQ(ledger().loaded, 1);
  auto run = [](Executable &executable, std::vector<uint8_t> &state) {
    Diagnostics said;
    for (int i = 0; i < 20; ++i)
      EXPECT_FALSE(runOnce(executable, 1, said).empty()) << textOf(said);
    state.resize(executable.states()[0].type.numBytes());
    EXPECT_TRUE(executable.getState(0, state, said));
  };
  std::vector<uint8_t> ours, theirs;
  std::thread other([&] { run(*second, theirs); });
  run(*first, ours);
  other.join();
  EXPECT_EQ(ours, theirs);
}

TEST(CoreMLBackend, Row) {
  Backends backends = Backends::builtin();
  ASSERT_TRUE(backends.find("coreml"));
  EXPECT_FALSE(backends.find("coreml")->isBuilt);
  Diagnostics diags;
  EXPECT_FALSE(backends.open("coreml", {}, diags));
  backends.add(coreMLBackend());
  EXPECT_TRUE(backends.find("coreml")->isBuilt);
  EXPECT_TRUE(
      backends.open("coreml", {.values = {{"framework", ANE_DOUBLE}}}, diags));
  EXPECT_FALSE(
      backends.open("coreml", {.values = {{"compute-units", "npu"}}}, diags));
}
