//===- DecomposeTest.cpp - accuracy of decompositions in fp16 -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Decompositions are exact in real arithmetic, which test/Ops checks. Here
/// every op of them rounds its result to fp16, and the outcome is compared with
/// the exact value of the op as a whole.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Params/Rope.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/RmsNorm.h"
#include "lib/Ops/Rows/Rope.h"
#include "lib/Ops/Rows/Sdpa.h"
#include "lib/Support/Half.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace anec;

namespace {

RefTensor halves(llvm::ArrayRef<int64_t> shape,
                 llvm::function_ref<double(int64_t)> element) {
  RefTensor tensor;
  tensor.type = TensorType(DType::FP16, shape);
  for (int64_t i = 0; i < tensor.type.numElements(); ++i)
    tensor.data.push_back(roundToHalf(element(i)));
  return tensor;
}

RefTensor normal(llvm::ArrayRef<int64_t> shape, double scale, uint64_t seed) {
  RefTensor tensor = randomTensor(TensorType(DType::FP16, shape), seed);
  return halves(shape, [&](int64_t i) {
    return std::clamp(tensor.data[i] * scale, -halfMax, halfMax);
  });
}

std::vector<double> evaluate(const Function &function,
                             llvm::ArrayRef<RefTensor> inputs, bool round) {
  Diagnostics diags;
  std::vector<RefTensor> outputs;
  InterpreterOptions options;
  options.roundToDType = round;
  EXPECT_TRUE(interpret(function, inputs, outputs, diags, options));
  return outputs[0].data;
}

/// An op on parameters of the inputs' types, whole and decomposed.
struct Both {
  Module module;
  Function *whole, *decomposed;

  Both(const OpDef &def, llvm::ArrayRef<RefTensor> inputs,
       llvm::ArrayRef<Attr> attrs = {}) {
    whole = make(def, inputs, attrs, "whole");
    decomposed = make(def, inputs, attrs, "decomposed");
    Op &op = decomposed->body().back();
    Builder builder(*decomposed);
    builder.setInsertionPoint(&op);
    llvm::SmallVector<Value *, 1> results;
    def.decompose(builder, op, results);
    op.result()->replaceAllUsesWith(results[0]);
    op.erase();
  }

  Function *make(const OpDef &def, llvm::ArrayRef<RefTensor> inputs,
                 llvm::ArrayRef<Attr> attrs, const char *name) {
    Function *function = module.addFunction(FunctionKind::Kernel, name);
    llvm::SmallVector<Value *, 3> operands;
    for (const RefTensor &input : inputs)
      operands.push_back(function->addParameter(input.type, "x"));
    function->setResults(Builder(*function).build(def, operands, attrs));
    return function;
  }

  double error(llvm::ArrayRef<RefTensor> inputs) const {
    return relativeError(evaluate(*decomposed, inputs, /*round=*/true),
                         evaluate(*whole, inputs, /*round=*/false));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// rmsnorm
//===----------------------------------------------------------------------===//

/// x (mean(x^2) + epsilon)^(-1/2) gamma as it is usually written, in fp16.
static double plainRmsNormError(llvm::ArrayRef<RefTensor> inputs) {
  Module module;
  Function *f = module.addFunction(FunctionKind::Kernel, "plain");
  Value *x = f->addParameter(inputs[0].type, "x");
  Builder b(*f);
  auto scalar = [&](double number) {
    return b.build(ops::Const, {},
                   Attr(param::val, Constant::scalar(DType::FP16, number)));
  };
  Attr overAxis[] = {{param::axes, llvm::ArrayRef<int64_t>(0)},
                     {param::keepDims, true}};
  Value *sum = b.build(ops::ReduceSum, {b.build(ops::Mul, {x, x})}, overAxis);
  Value *mean =
      b.build(ops::Mul, {sum, scalar(1.0 / double(inputs[0].type.shape[0]))});
  Value *shifted = b.build(ops::Add, {mean, scalar(1e-5)});
  f->setResults(
      b.build(ops::Mul, {x, b.build(ops::Pow, {shifted, scalar(-0.5)})}));
  return relativeError(
      evaluate(*f, inputs[0], true),
      evaluate(*Both(ops::RmsNorm, inputs).whole, inputs, false));
}

TEST(DecomposeRmsNorm, HoldsForAllMagnitudes) {
  RefTensor gamma = halves({768}, [](int64_t i) { return 0.5 + i % 7 * 0.25; });
  for (double epsilon : {1e-5, 1e-6, 1e-8})
    for (double magnitude = 1e-5; magnitude < 1e5; magnitude *= 10) {
      RefTensor inputs[] = {normal({768, 5}, magnitude, 1), gamma};
      Both both(ops::RmsNorm, inputs,
                Attr(param::epsilon, Constant::scalar(DType::FP32, epsilon)));
      EXPECT_LT(both.error(inputs), 1.2e-3)
          << "magnitude " << magnitude << ", epsilon " << epsilon;
    }
}

TEST(DecomposeRmsNorm, HoldsForOneLargeElement) {
  RefTensor gamma = halves({1024}, [](int64_t) { return 1; });
  for (double magnitude : {1e-4, 1e-2, 1.0, 100.0, 65504.0}) {
    RefTensor inputs[] = {
        halves({1024, 2},
               [&](int64_t i) { return i < 2 ? magnitude : magnitude * 1e-3; }),
        gamma};
    EXPECT_LT(Both(ops::RmsNorm, inputs).error(inputs), 1.2e-3) << magnitude;
  }
}

TEST(DecomposeRmsNorm, HoldsForEqualElementsAtTheEnds) {
  RefTensor gamma = halves({4096}, [](int64_t) { return 1; });
  for (double magnitude : {6e-8, 1e-4, 65504.0}) {
    RefTensor inputs[] = {
        halves({4096, 1},
               [&](int64_t i) { return i % 2 ? magnitude : -magnitude; }),
        gamma};
    EXPECT_LT(Both(ops::RmsNorm, inputs).error(inputs), 1.2e-3) << magnitude;
  }
}

TEST(DecomposeRmsNorm, ZerosStayZeros) {
  RefTensor inputs[] = {halves({64, 1}, [](int64_t) { return 0; }),
                        halves({64}, [](int64_t) { return 1; })};
  for (double y :
       evaluate(*Both(ops::RmsNorm, inputs).decomposed, inputs, true))
    EXPECT_EQ(y, 0);
}

/// Why the decomposition is not the plain form.
TEST(DecomposeRmsNorm, PlainFormFails) {
  RefTensor gamma = halves({768}, [](int64_t) { return 1; });
  RefTensor large[] = {normal({768, 5}, 12, 1), gamma};
  EXPECT_GT(plainRmsNormError(large), 0.9); // the sum overflows: all zeros
  RefTensor small[] = {normal({768, 5}, 3e-4, 1), gamma};
  EXPECT_GT(plainRmsNormError(small), 1.2e-3); // squares vanish
}

//===----------------------------------------------------------------------===//
// sdpa
//===----------------------------------------------------------------------===//

TEST(DecomposeSdpa, IsAccurate) {
  RefTensor inputs[] = {normal({6, 64, 33}, 1, 1), normal({2, 64, 33}, 1, 2),
                        normal({2, 64, 33}, 1, 3)};
  EXPECT_LT(Both(ops::Sdpa, inputs, Attr(param::causal, true)).error(inputs),
            2e-3);
}

/// Scores of 9,000 and more: unscaled, the products of q and k would overflow.
TEST(DecomposeSdpa, ScalesBeforeTheProduct) {
  RefTensor inputs[] = {
      halves({1, 64, 3}, [](int64_t i) { return 30 + i % 3; }),
      halves({1, 64, 5}, [](int64_t i) { return 40 - i % 5; }),
      normal({1, 64, 5}, 1, 3)};
  EXPECT_LT(Both(ops::Sdpa, inputs, Attr(param::causal, true)).error(inputs),
            2e-3);
}

/// What a query may not see has no influence at all, whatever the scores.
TEST(DecomposeSdpa, MaskIsExact) {
  constexpr int64_t seq = 7, width = 16;
  for (double magnitude : {0.1, 1.0, 30.0}) {
    RefTensor inputs[] = {normal({2, width, seq}, magnitude, 1),
                          normal({2, width, seq}, magnitude, 2),
                          normal({2, width, seq}, 1, 3)};
    Both both(ops::Sdpa, inputs, Attr(param::causal, true));
    std::vector<double> before = evaluate(*both.decomposed, inputs, true);
    for (int64_t i = seq / 2 + 1; i < 2 * width * seq; i += seq)
      for (int64_t later = 0; later < seq - seq / 2 - 1; ++later) {
        inputs[1].data[i + later] *= -1;
        inputs[2].data[i + later] = 1000;
      }
    std::vector<double> after = evaluate(*both.decomposed, inputs, true);
    for (size_t i = 0; i < before.size(); ++i)
      if (int64_t(i) % seq <= seq / 2)
        EXPECT_EQ(before[i], after[i]) << magnitude << " " << i;
  }
}

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

TEST(DecomposeRope, IsAccurateInBothStyles) {
  RefTensor inputs[] = {normal({3, 64, 257}, 1, 1)};
  for (RopeStyle style : {RopeStyle::Interleaved, RopeStyle::HalfSplit})
    EXPECT_LT(Both(ops::Rope, inputs, Attr(param::style, style)).error(inputs),
              1e-3)
        << spelling(style).str();
}
