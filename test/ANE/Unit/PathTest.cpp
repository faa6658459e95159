//===- PathTest.cpp - what only some paths have ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include <cmath>

using namespace anec;
using ane_double::ledger;

namespace {

/// The double is odd in some way as long as this lives.
struct Odd {
  explicit Odd(const char *how) { ledger().odd = how; }
  ~Odd() { ledger().odd.clear(); }
};

class AneRequestPaths : public OnEachPath {};
class AneArrayPaths : public OnEachPath {};

} // namespace

static std::vector<AnePath> pathsWith(bool requests) {
  std::vector<AnePath> paths;
  for (AnePath path : anePaths)
    if (takesRequests(path) == requests)
      paths.push_back(path);
  return paths;
}
INSTANTIATE_TEST_SUITE_P(Paths, AneRequestPaths,
                         testing::ValuesIn(pathsWith(true)), nameOfPath);
INSTANTIATE_TEST_SUITE_P(Paths, AneArrayPaths,
                         testing::ValuesIn(pathsWith(false)), nameOfPath);

static std::unique_ptr<Executable>
load(const AneOptions &options, const std::string &text, Diagnostics &diags) {
  TestProgram program(text);
  return openDouble(options)->load(program.function(), {}, diags);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

TEST_P(AneRequestPaths, TimeOfTheEngine) {
  AneOptions options = doubleOptions();
  Diagnostics diags;
  auto plain = load(options, twoByTwo(), diags);
  ASSERT_TRUE(plain) << textOf(diags);
  ASSERT_FALSE(runOnce(*plain, 1, diags).empty());
  EXPECT_FALSE(plain->engineSeconds());
  plain.reset();
  options.perfStats = true;
  auto timed = load(options, twoByTwo(), diags);
  ASSERT_TRUE(timed) << textOf(diags);
  EXPECT_FALSE(timed->engineSeconds());
  ASSERT_FALSE(runOnce(*timed, 1, diags).empty()) << textOf(diags);
  ASSERT_TRUE(timed->engineSeconds());
  EXPECT_DOUBLE_EQ(*timed->engineSeconds(), 93e-6);
  // Consumer systems have been seen to give none.
  Odd odd("no-stats");
  ASSERT_FALSE(runOnce(*timed, 1, diags).empty());
  EXPECT_FALSE(timed->engineSeconds());
}

TEST_P(AneRequestPaths, Procedures) {
  AneOptions options = doubleOptions();
  options.procedure = 1;
  Diagnostics diags;
  EXPECT_FALSE(load(options, twoByTwo(), diags));
  EXPECT_NE(textOf(diags).find("there is no procedure 1; the program has 1 "
                               "[ane-no-procedure]"),
            std::string::npos)
      << textOf(diags);
  Odd odd("procedures");
  Diagnostics none;
  auto second = load(options, twoByTwo(), none);
  ASSERT_TRUE(second) << textOf(none);
  ASSERT_FALSE(runOnce(*second, 1, none).empty()) << textOf(none);
  EXPECT_EQ(ledger().lastProcedure, 1u);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

// Success that leaves the outputs as they were is an error; success that
// leaves zeros cannot be told from a result.
TEST_P(AneArrayPaths, NothingComputed) {
  unsigned folders = stagedFolders();
  {
    Diagnostics diags;
    auto executable = load(doubleOptions(), twoByTwo(), diags);
    ASSERT_TRUE(executable) << textOf(diags);
    ASSERT_FALSE(runOnce(*executable, 1, diags).empty());
    Odd idle("idle");
    EXPECT_TRUE(runOnce(*executable, 1, diags).empty());
    EXPECT_NE(textOf(diags).find("did not write `y`; use another path "
                                 "[ane-nothing-computed]"),
              std::string::npos)
        << textOf(diags);
    Odd zeros("zeros");
    auto results = runOnce(*executable, 1, diags);
    ASSERT_FALSE(results.empty());
    EXPECT_EQ(results[0], std::vector<uint8_t>(results[0].size(), 0));
  }
  expectNothingLeft(folders);
}

// The engine need not take the arrays that it is given for results.
TEST_P(AneArrayPaths, ArraysOfTheEngine) {
  Odd odd("own-arrays");
  for (const std::string &text : {twoByTwo(), convolution(0.25)}) {
    Diagnostics diags;
    auto here = load(doubleOptions(), text, diags);
    TestProgram program(text);
    std::unique_ptr<Backend> cpu = createCpuBackend();
    auto there = cpu->load(program.function(), {}, diags);
    ASSERT_TRUE(here && there) << textOf(diags);
    EXPECT_EQ(runOnce(*here, 1, diags), runOnce(*there, 1, diags));
  }
}

static std::string withTypes(const std::string &type) {
  return "program(1.3)\n{\n  func main<ios18>(tensor<" + type +
         ", [1, 8, 1, 40]> x) {\n    tensor<" + type +
         ", [1, 8, 1, 40]> y = add(x = x, y = x)[name = string(\"y\")];\n"
         "  } -> (y);\n}\n";
}

// E5 takes fp32 and int32 as they are; its runtime refuses both.
TEST_P(AneArrayPaths, Types) {
  for (const char *type : {"fp32", "int32"}) {
    Diagnostics diags;
    auto here = load(doubleOptions(), withTypes(type), diags);
    if (GetParam() == AnePath::E5rt) {
      EXPECT_FALSE(here);
      EXPECT_NE(textOf(diags).find("which `--path=e5rt` refuses for inputs and "
                                   "outputs"),
                std::string::npos)
          << textOf(diags);
      continue;
    }
    TestProgram program(withTypes(type));
    std::unique_ptr<Backend> cpu = createCpuBackend();
    auto there = cpu->load(program.function(), {}, diags);
    ASSERT_TRUE(here && there) << textOf(diags);
    EXPECT_EQ(runOnce(*here, 1, diags), runOnce(*there, 1, diags));
  }
}

// Of text as it is, the runtime itself says what it refuses.
TEST_P(AneArrayPaths, TypesOfText) {
  ProgramText program;
  program.text = "program(1.3)\n[buildInfo = dict<string, string>({})]\n" +
                 withTypes("int32").substr(13);
  TensorType type(DType::Int32, {1, 8, 1, 40});
  program.inputs = {{"x", type}};
  program.outputs = {{"y", type}};
  Diagnostics diags;
  bool isLoaded = openDouble()->loadText(program, diags) != nullptr;
  EXPECT_EQ(isLoaded, GetParam() == AnePath::E5) << textOf(diags);
  EXPECT_EQ(textOf(diags).find("unsupported type of port x") !=
                std::string::npos,
            !isLoaded)
      << textOf(diags);
  // A type that Core ML has no arrays of.
  program.inputs[0].type.dtype = DType::Bool;
  Diagnostics said;
  EXPECT_FALSE(openDouble()->loadText(program, said));
  EXPECT_EQ(textOf(said).find("[ane-path-lacks-type]") != std::string::npos,
            GetParam() == AnePath::E5);
}

// What is written is rounded to fp16, whatever the path has in between.
TEST_P(AneArrayPaths, Rounding) {
  Diagnostics diags;
  auto executable = load(doubleOptions(), withTypes("fp16"), diags);
  ASSERT_TRUE(executable) << textOf(diags);
  Region part{2, 3, 1, 2};
  float in[] = {1.0f / 3, 70000}, out[2];
  ASSERT_TRUE(executable->writeInput(0, part, in, diags));
  ASSERT_TRUE(executable->readOutput(0, part, out, diags));
  ASSERT_TRUE(executable->execute(diags)) << textOf(diags);
  ASSERT_TRUE(executable->readOutput(0, part, out, diags));
  EXPECT_EQ(out[0], 2 * 0.333251953125f);
  EXPECT_TRUE(std::isinf(out[1]));
}

TEST_P(AneArrayPaths, OneFunction) {
  AneOptions options = doubleOptions();
  options.procedure = 1;
  Diagnostics diags;
  EXPECT_FALSE(load(options, twoByTwo(), diags));
  EXPECT_NE(textOf(diags).find("[ane-path-lacks-procedures]"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Chaining
//===----------------------------------------------------------------------===//

static AneInspection inspectChaining() {
  AneOptions options = doubleOptions();
  options.tryChaining = true;
  return inspectAne(options);
}

TEST(AneChaining, Verdicts) {
  unsigned folders = stagedFolders();
  EXPECT_EQ(inspectAne(doubleOptions()).chaining, "");
  AneInspection found = inspectChaining();
  EXPECT_EQ(found.chaining, "refused");
  EXPECT_NE(found.chainingError.find("Code=15"), std::string::npos);
  {
    Odd odd("chains");
    EXPECT_EQ(inspectChaining().chaining, "prepared");
  }
  expectNothingLeft(folders);
}

// Any call can fail: there is a verdict and its reason, and nothing is left.
TEST(AneChaining, Faults) {
  unsigned folders = stagedFolders();
  ledger().calls = 0;
  (void)inspectChaining();
  unsigned calls = ledger().calls;
  ASSERT_GT(calls, 10u);
  for (const char *how : {"", "something else", "raise"})
    for (unsigned number = 1; number <= calls; ++number) {
      ledger().calls = 0;
      ledger().failCount = 1;
      ledger().failure = how;
      ledger().failAt = number;
      AneInspection found = inspectChaining();
      ledger().failAt = 0;
      EXPECT_NE(found.chaining, "prepared") << number;
      EXPECT_NE(found.chaining, "") << number;
      EXPECT_NE(found.chainingError, "") << number;
      expectNothingLeft(folders);
    }
}
