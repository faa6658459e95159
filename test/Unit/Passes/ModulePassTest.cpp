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
#include "lib/Passes/Kernels/OpenedModule.h"
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

//===----------------------------------------------------------------------===//
// Opened modules
//===----------------------------------------------------------------------===//

static constexpr char called[] = R"(
layer @first(%x: fp16[4]) -> (%y: fp16[4]) {
  %y = exp(%x) : fp16[4]
  return %y
}
host @model(%x: fp16[4]) -> (%y: fp16[4]) {
  %y = call @first(%x) : fp16[4]
  return %y
}
)";

/// The opened modules that passes got, in order.
static std::vector<const OpenedModule *> given;
static bool look(OpenedModule &opened, PassContext &) {
  given.push_back(&opened);
  EXPECT_EQ(opened.bodies().size(), 1u);
  EXPECT_EQ(opened.bodies()[0].numGroups(), 1u);
  EXPECT_EQ(opened.module().functions.size(), 1u) << "the layer is open";
  return true;
}
static constexpr PassDef looking = {.name = "looking", .runOnOpened = look};

static bool spoil(OpenedModule &opened, PassContext &) {
  Function &host = opened.bodies()[0].host();
  host.body().front().result()->type = TensorType(DType::FP16, {5});
  return true;
}
static constexpr PassDef spoiling = {.name = "spoiling", .runOnOpened = spoil};

static bool isClosed(Module &module, PassContext &) {
  EXPECT_TRUE(module.findFunction("first"));
  return false;
}
static constexpr PassDef closed = {.name = "closed", .runOnModule = isClosed};

namespace {
class OpenedPass : public ModulePass {
protected:
  void SetUp() override {
    module = parseIR(called, opTable(), diags);
    ASSERT_TRUE(module);
    given.clear();
  }
};
} // namespace

TEST_F(OpenedPass, SharesOneOpenedModule) {
  options.passes = {&closed, &looking, &looking, &looking, &closed};
  options.verifyNumerics = true;
  EXPECT_TRUE(runPasses(*module, options, diags)) << messages();
  ASSERT_EQ(given.size(), 3u);
  EXPECT_EQ(given[0], given[1]);
  EXPECT_EQ(given[1], given[2]);
  EXPECT_TRUE(module->findFunction("first"));
}

TEST_F(OpenedPass, IsClosedAtTheLimit) {
  options.passes = {&looking, &looking, &looking};
  options.limit = 2;
  EXPECT_TRUE(runPasses(*module, options, diags)) << messages();
  EXPECT_EQ(given.size(), 2u);
  EXPECT_TRUE(module->findFunction("first"));
}

TEST_F(OpenedPass, IsClosedToBeWatched) {
  std::vector<std::string> seen;
  options.passes = {&looking, &looking};
  options.afterPass = [&](const PassDef &, const Function &function) {
    seen.push_back(function.name);
  };
  EXPECT_TRUE(runPasses(*module, options, diags)) << messages();
  EXPECT_EQ(seen,
            (std::vector<std::string>{"model", "first", "model", "first"}));
}

TEST_F(OpenedPass, IsVerifiedWhileItIsOpen) {
  options.passes = {&spoiling, &looking};
  EXPECT_FALSE(runPasses(*module, options, diags));
  EXPECT_TRUE(given.empty()) << "the next pass does not run";
  EXPECT_NE(messages().find("pass `spoiling` left the program malformed"),
            std::string::npos)
      << messages();
}
