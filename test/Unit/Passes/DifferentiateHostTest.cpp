//===- DifferentiateHostTest.cpp - gradients through host functions -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Gradients of weights beside finite differences, in a program that has of
/// `call` and `repeat` what the examples do not: repeats in repeats, values
/// that stay, slices and stacks, weights of instances in host functions,
/// results that nobody uses, a layer that is called twice.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/PassManager.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <map>

using namespace anec;

static constexpr char trainingProgram[] = R"(
layer @l(%x: fp32[3]) -> (%y: fp32[3], %z: fp32[3], %unused: fp32[3]) {
  %w = weight() {name = "l.w", dtype = "fp32", shape = [3]} : fp32[3]
  %xw = mul(%x, %w) : fp32[3]
  %y = tanh(%xw) : fp32[3]
  %z = mul(%x, %y) : fp32[3]
  %unused = exp(%xw) : fp32[3]
  return %y, %z, %unused
}
layer @shared(%x: fp32[3], %n: int32) -> (%y: fp32[3]) {
  %w = weight() {name = "shared.w", dtype = "fp32", shape = [3, 1], view = "permute[1, 0] reshape[3]"} : fp32[3]
  %again = weight() {name = "shared.w", dtype = "fp32", shape = [3, 1], view = "reshape[1, 3]"} : fp32[1, 3]
  %flat = reshape(%again) {shape = [3]} : fp32[3]
  %product = mul(%x, %w) : fp32[3]
  %y = add(%product, %flat) : fp32[3]
  return %y
}
host @m(%n: int32) -> (%loss: fp32 {role = loss}) {
  %v = weight() {name = "m.v", dtype = "fp32", shape = [3]} : fp32[3]
  %u = weight() {name = "m.u", dtype = "fp32", shape = [4, 3]} : fp32[4, 3]
  %x = sin(%v) : fp32[3]
  %first = call @shared(%x, %n) : fp32[3]
  %a, %c = repeat(%first, %v, %n, %u) {body = "m.body", from = 1, to = 5, carried = 1, sliced = 1, collected = ["fp32[3]"]} : fp32[3], fp32[4, 3]
  %last = call @shared(%a, %n) : fp32[3]
  %av = mul(%last, %v) : fp32[3]
  %cu = mul(%c, %u) : fp32[4, 3]
  %both = add(%av, %cu) : fp32[4, 3]
  %loss = reduce_sum(%both) : fp32
  return %loss
}
host @m.body(%i: int32, %x: fp32[3], %v: fp32[3], %n: int32, %u: fp32[3]) -> (%y: fp32[3], %stack: fp32[3]) {role = body} {
  %y0, %z, %unused = call @l[%i](%x) : fp32[3], fp32[3], fp32[3]
  %y1 = repeat(%y0, %v) {body = "m.inner", from = 0, to = 2, carried = 1} : fp32[3]
  %w = weight(%i) {name = "n.w", dtype = "fp32", shape = [3]} : fp32[3]
  %half = const() {val = fp32(0.5)} : fp32
  %halved = mul(%y1, %half) : fp32[3]
  %yu = mul(%halved, %u) : fp32[3]
  %y = add(%yu, %w) : fp32[3]
  return %y, %z
}
host @m.inner(%j: int32, %x: fp32[3], %v: fp32[3]) -> (%y: fp32[3]) {role = body} {
  %xv = mul(%x, %v) : fp32[3]
  %s = sin(%xv) : fp32[3]
  %y = add(%s, %x) : fp32[3]
  return %y
}
)";

namespace {

class DifferentiateHost : public testing::Test {
protected:
  using Weights = std::map<std::string, std::vector<double>>;

  void SetUp() override {
    module = parseIR(trainingProgram, opTable(), diags);
    ASSERT_TRUE(module);
    PassManagerOptions passes;
    passes.passes = {&passes::Differentiate};
    ASSERT_TRUE(runPasses(*module, passes, diags)) << messages();
  }

  std::string messages() {
    std::string text;
    llvm::raw_string_ostream out(text);
    diags.print(out);
    return text;
  }

  static std::string key(const Op &op, std::optional<int64_t> instance) {
    return op.get(param::name).str() +
           (instance ? std::to_string(*instance) : "");
  }

  /// Runs a host function; draws weights that are not there yet.
  double run(const char *name, llvm::ArrayRef<RefTensor> inputs,
             Weights *gradients = nullptr) {
    InterpreterOptions options;
    options.weights = [&](const Op &op, std::optional<int64_t> instance) {
      auto [it, isNew] = weights.try_emplace(key(op, instance));
      if (isNew)
        it->second = randomTensor(op.result()->type, weights.size()).data;
      return it->second;
    };
    options.accumulate = [&](const Op &op, std::optional<int64_t> instance,
                             const RefTensor &value) {
      ASSERT_TRUE(gradients);
      std::vector<double> &sum = (*gradients)[key(op, instance)];
      sum.resize(value.data.size());
      for (size_t i = 0; i < sum.size(); ++i)
        sum[i] += value.data[i];
    };
    std::vector<RefTensor> outputs;
    EXPECT_TRUE(interpretModule(*module, *module->findFunction(name), inputs,
                                outputs, diags, options))
        << messages();
    return outputs[0].data[0];
  }

  Diagnostics diags;
  std::unique_ptr<Module> module;
  Weights weights;
};

} // namespace

TEST_F(DifferentiateHost, MatchesFiniteDifferences) {
  RefTensor n{DType::Int32, {3}}, one{DType::FP32, {1}};
  Weights gradients;
  double loss = run("m", {n});
  EXPECT_EQ(run("m.train", {n, one}, &gradients), loss);
  // m.v, m.u, shared.w, and four instances of l.w and n.w.
  EXPECT_EQ(gradients.size(), 11u);
  EXPECT_EQ(weights.size(), 11u);
  for (auto &[name, values] : weights) {
    std::vector<double> expected;
    for (double &value : values) {
      double at = value, step = 1e-5;
      value = at + step;
      double above = run("m", {n});
      value = at - step;
      double below = run("m", {n});
      value = at;
      expected.push_back((above - below) / (2 * step));
    }
    EXPECT_LT(relativeError(gradients[name], expected), 1e-6) << name;
  }
}

/// The scale is a factor of all gradients, and none of the loss.
TEST_F(DifferentiateHost, ScalesTheLoss) {
  RefTensor n{DType::Int32, {3}};
  Weights plain, scaled;
  double loss = run("m.train", {n, {DType::FP32, {1}}}, &plain);
  EXPECT_EQ(run("m.train", {n, {DType::FP32, {1024}}}, &scaled), loss);
  for (const auto &[name, gradient] : plain)
    for (size_t i = 0; i < gradient.size(); ++i)
      EXPECT_NEAR(scaled[name][i], 1024 * gradient[i],
                  1e-9 * std::fabs(scaled[name][i]));
}
