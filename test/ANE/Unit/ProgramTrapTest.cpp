//===- ProgramTrapTest.cpp - programs that engines compute wrong ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Programs that some chip refuses or computes wrong: the double has to do the
/// same, and what `legalize` makes of them for this chip has to be right.
///
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "anec/Passes/PassManager.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "lib/Target/RuleProgram.h"

using namespace anec;
using ane_double::ledger;

namespace {

struct Row {
  /// Of the double, and the rule whose rewrite helps.
  const char *trap, *rule;
  const char *target;
};

class AneProgramTraps : public testing::TestWithParam<Row> {
protected:
  void TearDown() override {
    ledger().traps.clear();
    ledger().isPoisoned = false;
  }
};

} // namespace

static constexpr Row rows[] = {
    {"batch-broadcast", "batch-broadcast", "m3"},
    {"equal-operands", "equal-operands", "m5"},
    {"inner-32", "matmul-inner-32", "m1"},
    {"narrow", "io-width-32", "m3"},
    {"tile", "no-tile", "m3"},
};
INSTANTIATE_TEST_SUITE_P(Rows, AneProgramTraps, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row> &info) {
                           std::string name = info.param.trap;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

using Arrays = std::vector<std::vector<float>>;

/// Fills a port's elements with small integers, exact in every sum; columns
/// that only one of two programs has are zeros.
static Arrays runWith(Backend &backend, const Function &function,
                      llvm::ArrayRef<Port> ports, llvm::ArrayRef<Port> results,
                      std::string &error) {
  Diagnostics diags;
  std::unique_ptr<Executable> executable = backend.load(function, {}, diags);
  Arrays outputs;
  if (!executable) {
    error = textOf(diags);
    return outputs;
  }
  auto indexOf = [](llvm::ArrayRef<Port> all, const std::string &name) {
    return unsigned(
        llvm::find_if(all,
                      [&](const Port &port) { return port.name == name; }) -
        all.begin());
  };
  auto whole = [](const TensorType &type) {
    int64_t columns = type.shape.back();
    return Region{0, 0, type.numElements() / columns, columns};
  };
  unsigned seed = 1;
  for (const Port &port : ports) {
    std::vector<float> elements(size_t(port.type.numElements()));
    for (float &element : elements)
      element = float(int((seed = seed * 1103515245 + 12345) >> 16 & 7) - 3);
    unsigned index = indexOf(executable->inputs(), port.name);
    EXPECT_TRUE(executable->writeInput(index, whole(port.type), elements.data(),
                                       diags));
  }
  if (!executable->execute(diags)) {
    error = textOf(diags);
    return outputs;
  }
  for (const Port &port : results) {
    outputs.emplace_back(size_t(port.type.numElements()));
    unsigned index = indexOf(executable->outputs(), port.name);
    EXPECT_TRUE(executable->readOutput(index, whole(port.type),
                                       outputs.back().data(), diags));
  }
  return outputs;
}

TEST_P(AneProgramTraps, WrongAsItIsAndRightWhenLegalized) {
  const Row &row = GetParam();
  TestProgram program(findRuleProgram(row.rule, "bad")->text),
      legal(findRuleProgram(row.rule, "bad")->text);
  PassManagerOptions passes;
  passes.passes = {&passes::Legalize, &passes::DCE};
  passes.target = findTarget(row.target);
  passes.targetChosen = true;
  passes.assumptions.denied = {findRule(row.rule)};
  ASSERT_TRUE(runPasses(*legal.module, passes, legal.diags))
      << textOf(legal.diags);

  std::unique_ptr<Backend> ane = openDouble(), cpu = createCpuBackend();
  Diagnostics diags;
  auto there = cpu->load(program.function(), {}, diags);
  ASSERT_TRUE(there) << textOf(diags);
  std::vector<Port> inputs = there->inputs(), outputs = there->outputs();
  std::string error;
  auto run = [&](Backend &backend, const TestProgram &which) {
    error.clear();
    return runWith(backend, which.function(), inputs, outputs, error);
  };
  Arrays expected = run(*cpu, program);
  // Without the trap, nothing is wrong with it.
  EXPECT_EQ(run(*ane, program), expected) << error;
  ledger().traps = {row.trap};
  // Loaded programs are as they were loaded: this is another process's.
  ane = openDouble();
  Arrays first = run(*ane, program);
  bool isRefused = first.empty();
  // After `tile`, it is the next program that is wrong.
  Arrays second = run(*ane, program);
  EXPECT_NE(second, expected);
  EXPECT_EQ(isRefused, row.trap == std::string("equal-operands")) << error;
  ledger().isPoisoned = false;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(run(*ane, legal), expected) << error;
}
