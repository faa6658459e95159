//===- GradientTest.cpp - accuracy of gradients in fp16 -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// That the rules are right in real arithmetic, test/Gradients checks. Here the
/// backward of an op is decomposed, every op of it rounds to fp16, and what
/// comes out is compared with the exact gradient, for inputs of any magnitude
/// that activations have.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/PassManager.h"
#include "lib/IR/Builder.h"
#include "lib/IR/BuiltOrder.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Support/Half.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace anec;

namespace {

/// The backward of a layer that applies one op to fp16 values.
class Backward {
public:
  /// `op`, such as `softmax(%x)`, with parameters `types` called %x, %y, %z.
  Backward(llvm::StringRef op, llvm::ArrayRef<const char *> types,
           llvm::StringRef result) {
    std::string text = "layer @f(";
    for (size_t i = 0; i < types.size(); ++i)
      text +=
          (i ? ", %" : "%") + std::string(1, char('x' + i)) + ": " + types[i];
    text += (") -> (%out: " + result + ") {\n  %out = " + op + " : " + result +
             "\n  return %out\n}\n")
                .str();
    exact = make(text, /*decompose=*/false);
    halves = make(text, /*decompose=*/true);
  }

  /// How far the worst of the gradients is off when the inputs have these
  /// magnitudes, one for each.
  double error(llvm::ArrayRef<double> magnitudes) {
    std::vector<RefTensor> inputs = makeInputs(magnitudes);
    std::vector<RefTensor> want = run(*exact, inputs, false);
    std::vector<RefTensor> got = run(*halves, inputs, true);
    double worst = 0;
    for (size_t i = 0; i < want.size(); ++i)
      worst = std::max(worst, relativeError(got[i].data, want[i].data));
    return worst;
  }

  /// Whether all gradients are numbers that are finite.
  bool isFinite(llvm::ArrayRef<double> magnitudes) {
    for (const RefTensor &got : run(*halves, makeInputs(magnitudes), true))
      for (double element : got.data)
        if (!std::isfinite(element))
          return false;
    return true;
  }

private:
  std::vector<RefTensor> makeInputs(llvm::ArrayRef<double> magnitudes) {
    std::vector<RefTensor> inputs;
    for (const auto &parameter :
         exact->findFunction("f.backward")->parameters()) {
      size_t slot = inputs.size();
      inputs.push_back(randomTensor(parameter->type, slot + 1));
      double scale = slot < magnitudes.size() ? magnitudes[slot] : 1;
      for (double &element : inputs.back().data)
        element = roundToHalf(element * scale);
    }
    return inputs;
  }
  std::unique_ptr<Module> make(const std::string &text, bool decompose) {
    std::unique_ptr<Module> module =
        parseIR(diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text)),
                opTable(), diags);
    PassManagerOptions passes;
    passes.passes = {&passes::Differentiate};
    if (decompose)
      passes.passes.push_back(&passes::Decompose);
    EXPECT_TRUE(module && runPasses(*module, passes, diags)) << text;
    return module;
  }
  std::vector<RefTensor> run(const Module &module,
                             llvm::ArrayRef<RefTensor> inputs, bool round) {
    InterpreterOptions options;
    options.roundToDType = round;
    std::vector<RefTensor> outputs;
    EXPECT_TRUE(interpret(*module.findFunction("f.backward"), inputs, outputs,
                          diags, options));
    return outputs;
  }

  Diagnostics diags;
  std::unique_ptr<Module> exact, halves;
};

// Whichever argument of a rule's call a compiler evaluates first.
TEST(BuiltOrder, IsThatOfOperands) {
  auto print = [](bool leftFirst) {
    Function function(FunctionKind::Layer, "f");
    Value *x = function.addParameter(TensorType(DType::FP32, {2}), "x");
    Builder builder(function);
    Value *before = builder.build(ops::Exp, {x});
    auto make = [&](bool left) {
      return builder.build(left ? ops::Abs : ops::Sign, {before});
    };
    Value *first = make(leftFirst), *second = make(!leftFirst);
    Value *left = leftFirst ? first : second;
    Value *right = leftFirst ? second : first;
    Value *sum = builder.build(ops::Add, {left, right});
    Value *unused = builder.build(ops::Exp, {right});
    Op *built[] = {first->definingOp(), second->definingOp(), sum->definingOp(),
                   unused->definingOp()};
    Value *after = builder.build(ops::Mul, {sum, before});
    orderBuilt(built, sum);
    function.setResults({after}, {"y"});
    std::string text;
    llvm::raw_string_ostream out(text);
    printIR(function, out);
    // Later passes may follow uses.
    for (Operand *use = before->firstUse(); use; use = use->nextUse())
      out << ' ' << use->owner()->def().name;
    return text;
  };
  std::string text = print(true);
  EXPECT_EQ(text, print(false));
  EXPECT_LT(text.find("sign("), text.find("abs("));
  EXPECT_LT(text.find("add("), text.rfind("exp("));
  EXPECT_LT(text.rfind("exp("), text.find("mul("));
}

} // namespace

TEST(Gradient, RmsNormHoldsForAllMagnitudes) {
  Backward backward("rmsnorm(%x, %y)", {"fp16[768, 3]", "fp16[768]"},
                    "fp16[768, 3]");
  for (double magnitude : {1e-2, 1.0, 100.0, 1e4})
    EXPECT_LT(backward.error({magnitude, 1}), 5e-3) << magnitude;
}

TEST(Gradient, LayerNormHoldsForAllMagnitudes) {
  Backward backward("layer_norm(%x, %y, %z) {axes = [0]}",
                    {"fp16[768, 3]", "fp16[768]", "fp16[768]"}, "fp16[768, 3]");
  for (double magnitude : {1e-2, 1.0, 100.0, 1e4})
    EXPECT_LT(backward.error({magnitude, 1, 1}), 5e-3) << magnitude;
}

TEST(Gradient, AttentionIsAccurate) {
  Backward backward("sdpa(%x, %y, %z) {causal = true}",
                    {"fp16[4, 64, 33]", "fp16[2, 64, 33]", "fp16[2, 64, 33]"},
                    "fp16[4, 64, 33]");
  for (double magnitude : {0.1, 1.0, 2.0})
    EXPECT_LT(backward.error({magnitude, magnitude, 1}), 1e-2) << magnitude;
}

TEST(Gradient, ActivationsHoldForAllMagnitudes) {
  for (const char *op :
       {"silu(%x)", "gelu(%x)", "gelu(%x) {mode = \"TANH_APPROXIMATION\"}",
        "gelu(%x) {mode = \"SIGMOID_APPROXIMATION\"}", "sigmoid(%x)",
        "tanh(%x)", "softplus(%x)", "softsign(%x)", "relu(%x)"}) {
    Backward backward(op, {"fp16[999]"}, "fp16[999]");
    for (double magnitude : {1e-2, 1.0, 5.0})
      EXPECT_LT(backward.error({magnitude}), 5e-3) << op << " " << magnitude;
    // Far out, where squares, cubes and exponentials would be infinite.
    EXPECT_TRUE(backward.isFinite({1e4})) << op;
  }
}

TEST(Gradient, SoftmaxIsAccurate) {
  Backward backward("softmax(%x)", {"fp16[5, 300]"}, "fp16[5, 300]");
  for (double magnitude : {1e-2, 1.0, 10.0})
    EXPECT_LT(backward.error({magnitude}), 5e-3) << magnitude;
  EXPECT_TRUE(backward.isFinite({1e4}));
}
