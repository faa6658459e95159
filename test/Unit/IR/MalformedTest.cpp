//===- MalformedTest.cpp - functions that no text can spell ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/MIL/Printer.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Verifier.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace anec;

namespace {

const TensorType four(DType::FP16, {4});

/// kernel @f(%x) -> (%y) { %a = exp(%x); %b = log(%a); return %b }
struct Chain {
  Module module;
  Function *function = module.addFunction(FunctionKind::Kernel, "f");
  Op *exp, *log;

  Chain() {
    Value *x = function->addParameter(four, "x");
    Builder builder(*function);
    exp = builder.create(ops::Exp, {x}, {}, "a");
    log = builder.create(ops::Log, {exp->result()}, {}, "b");
    function->setResults({log->result()}, {"y"});
  }
};

/// The ids of what `check` reports.
template <typename Fn>
std::vector<std::string> ids(Fn check) {
  Diagnostics diags;
  bool ok = check(diags);
  EXPECT_EQ(ok, !diags.hasErrors());
  std::vector<std::string> result;
  for (const Diagnostic &diagnostic : diags.all())
    result.push_back("[" + diagnostic.kind->id.str() + "]");
  return result;
}
using Ids = std::vector<std::string>;

TEST(Malformed, TheChainIsWellFormed) {
  Chain chain;
  EXPECT_EQ(ids([&](Diagnostics &d) { return verify(chain.module, d); }),
            Ids());
}

TEST(Malformed, UseBeforeDefinition) {
  Chain chain;
  chain.exp->setOperand(0, chain.log->result());
  chain.log->setOperand(0, chain.function->parameters()[0].get());
  EXPECT_EQ(ids([&](Diagnostics &d) { return verify(chain.module, d); }),
            Ids({"[use-before-definition]"}));
}

TEST(Malformed, OperandOfAnotherFunction) {
  Chain chain, other;
  chain.log->setOperand(0, other.exp->result());
  EXPECT_EQ(ids([&](Diagnostics &d) { return verify(chain.module, d); }),
            Ids({"[use-before-definition]"}));
}

TEST(Malformed, UndefinedResult) {
  Chain chain, other;
  chain.function->setResult(0, other.log->result());
  EXPECT_EQ(ids([&](Diagnostics &d) { return verify(chain.module, d); }),
            Ids({"[undefined-result]"}));
}

TEST(Malformed, EqualNamesOfParametersAndOfResults) {
  Chain chain;
  chain.function->addParameter(four, "x");
  Value *b = chain.log->result();
  chain.function->setResults({b, b}, {"y", "y"});
  EXPECT_EQ(ids([&](Diagnostics &d) { return verify(chain.module, d); }),
            Ids({"[duplicate-name]", "[duplicate-name]"}));
}

TEST(Malformed, EqualNamesOfFunctions) {
  Chain chain;
  chain.module.addFunction(FunctionKind::Kernel, "f");
  EXPECT_EQ(ids([&](Diagnostics &d) { return verify(chain.module, d); }),
            Ids({"[duplicate-function]"}));
}

TEST(Malformed, RolesOfTheOtherEnd) {
  Chain chain;
  chain.function->parameters()[0]->setRole(ValueRole::Output);
  chain.function->setResultRole(0, ValueRole::Target);
  EXPECT_EQ(ids([&](Diagnostics &d) { return verify(chain.module, d); }),
            Ids({"[misplaced-role]", "[misplaced-role]"}));
}

TEST(Malformed, ResultOfAnotherType) {
  Chain chain;
  chain.exp->result()->type.dtype = DType::FP32;
  Ids reported = ids([&](Diagnostics &d) { return verify(chain.module, d); });
  EXPECT_EQ(reported, Ids({"[result-type]", "[result-type]"}));
}

TEST(Malformed, OnlyKernelsArePrintedAsMIL) {
  Chain chain;
  chain.function->kind = FunctionKind::Layer;
  EXPECT_EQ(ids([&](Diagnostics &d) {
              return printMIL(chain.module, llvm::nulls(), {}, d);
            }),
            Ids({"[not-a-kernel]"}));
}

TEST(Malformed, CallsHaveNoReferenceOfTheirOwn) {
  Module module;
  Function *host = module.addFunction(FunctionKind::Host, "h");
  Value *x = host->addParameter(four, "x");
  Builder builder(*host);
  Op *call = builder.create(
      ops::Call, {nullptr, x},
      {{param::callee, "f"},
       {param::results, Constant::strings({DType::String, {1}}, {"fp16[4]"})}},
      "y");
  host->setResults({call->result()});
  std::vector<RefTensor> out;
  EXPECT_EQ(ids([&](Diagnostics &d) {
              return interpret(*host, {RefTensor{four, {1, 2, 3, 4}}}, out, d);
            }),
            Ids({"[no-reference]"}));
}

} // namespace
