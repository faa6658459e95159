//===- ModulePassTest.cpp - passes on the whole module --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What the manager does for a pass that runs on the module, with passes made
/// for it, some of them wrong.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/PassManager.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Ops.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace anec;

static constexpr char program[] = R"(
kernel @first(%x: fp16[4]) -> (%y: fp16[4]) {
  %y = exp(%x) : fp16[4]
  return %y
}
host @model(%x: fp16[4]) -> (%y: fp16[4]) {
  %y = relu(%x) : fp16[4]
  return %y
}
)";

static bool addFunction(Module &module, PassContext &ctx) {
  Function *added = module.addFunction(FunctionKind::Kernel, "added");
  added->setResults(added->addParameter(DType::FP16, "x"));
  ctx.count("added");
  return true;
}
static constexpr PassDef adding = {
    .name = "adding",
    .stats = {{{"added", "functions added"}}},
    .runOnModule = addFunction,
};

static bool duplicateName(Module &module, PassContext &) {
  module.addFunction(FunctionKind::Kernel, "first")->setResults({});
  return true;
}
static constexpr PassDef breaking = {.name = "breaking",
                                     .runOnModule = duplicateName};

static bool returnInput(Module &module, PassContext &) {
  Function &function = *module.findFunction("first");
  function.setResult(0, function.parameters()[0].get());
  return true;
}
static constexpr PassDef moving = {.name = "moving",
                                   .runOnModule = returnInput};

namespace {
class ModulePass : public testing::Test {
protected:
  void SetUp() override {
    module = parseIR(program, opTable(), diags);
    ASSERT_TRUE(module);
  }
  std::string messages() {
    std::string text;
    llvm::raw_string_ostream out(text);
    diags.print(out);
    return text;
  }
  Diagnostics diags;
  std::unique_ptr<Module> module;
  PassManagerOptions options;
  std::vector<PassReport> reports;
};
} // namespace

TEST_F(ModulePass, RunsOnceAndIsWatched) {
  std::vector<std::string> seen;
  options.passes = {&adding, findPass("dce")};
  options.verifyNumerics = true;
  options.afterPass = [&](const PassDef &pass, const Function &function) {
    seen.push_back(pass.name.str() + " " + function.name);
  };
  EXPECT_TRUE(runPasses(*module, options, diags, &reports)) << messages();
  EXPECT_EQ(seen, (std::vector<std::string>{"adding first", "adding model",
                                            "adding added", "dce first",
                                            "dce added"}));
  EXPECT_EQ(reports[0].runs, 1u);
  EXPECT_EQ(reports[0].changes, 1u);
  EXPECT_EQ(reports[0].counts[0], 1u);
}

TEST_F(ModulePass, CountsOnceTowardsTheLimit) {
  options.passes = {findPass("dce"), &adding};
  options.limit = 1;
  EXPECT_TRUE(runPasses(*module, options, diags, &reports));
  EXPECT_FALSE(module->findFunction("added"));
  options.limit = 2;
  EXPECT_TRUE(runPasses(*module, options, diags, &reports));
  EXPECT_TRUE(module->findFunction("added"));
}

TEST_F(ModulePass, IsVerified) {
  options.passes = {&breaking};
  EXPECT_FALSE(runPasses(*module, options, diags));
  EXPECT_NE(messages().find("pass `breaking` left the program malformed; this "
                            "is a bug in anec [pass-broke-module]"),
            std::string::npos)
      << messages();
}

TEST_F(ModulePass, IsComparedBeforeAndAfter) {
  options.passes = {&moving};
  EXPECT_TRUE(runPasses(*module, options, diags));
  SetUp();
  options.verifyNumerics = true;
  EXPECT_FALSE(runPasses(*module, options, diags));
  EXPECT_NE(messages().find("[pass-moved-result]"), std::string::npos)
      << messages();
}
