//===- HostFunctionsTest.cpp - host functions in the interpreter ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Calls, all forms of `repeat`, instances of weights and gradients, with
/// numbers worked out by hand.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/ParamNames.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "gtest/gtest.h"
#include <map>

using namespace anec;

static constexpr char program[] = R"(
layer @scale(%x: fp32[2]) -> (%y: fp32[2]) {
  %w = weight() {name = "scale.w", dtype = "fp32", shape = [1]} : fp32[1]
  %y = mul(%x, %w) : fp32[2]
  return %y
}
host @forward.body(%i: int32, %x: fp32[2]) -> (%y: fp32[2], %saved: fp32[2]) {role = body} {
  %y = call @scale[%i](%x) : fp32[2]
  return %y, %x
}
host @backward.body(%i: int32, %dy: fp32[2], %bias: fp32[2], %saved: fp32[2]) -> (%dx: fp32[2]) {role = body} {
  %w = weight(%i) {name = "scale.w", dtype = "fp32", shape = [1]} : fp32[1]
  %scaled = mul(%dy, %w) : fp32[2]
  %dx = add(%scaled, %bias) : fp32[2]
  %product = mul(%dy, %saved) : fp32[2]
  %dw = reduce_sum(%product) {axes = [0], keep_dims = true} : fp32[1]
  accumulate(%i, %dw) {name = "scale.w"}
  return %dx
}
host @model(%x: fp32[2], %bias: fp32[2]) -> (%y: fp32[2], %saved: fp32[3, 2], %dx: fp32[2]) {
  %y, %saved = repeat(%x) {body = "forward.body", from = 1, to = 4, carried = 1, collected = ["fp32[2]"]} : fp32[2], fp32[3, 2]
  %dx = repeat(%y, %bias, %saved) {body = "backward.body", from = 1, to = 4, carried = 1, sliced = 1, reverse = true} : fp32[2]
  %one = call @scale(%x) : fp32[2]
  accumulate(none, %one) {name = "model.v"}
  return %y, %saved, %dx
}
)";

TEST(HostFunctions, RunInTheInterpreter) {
  Diagnostics diags;
  std::unique_ptr<Module> module = parseIR(program, opTable(), diags);
  ASSERT_TRUE(module);
  TensorType two(DType::FP32, {2});
  InterpreterOptions options;
  // Instance i of scale.w is i + 1; 10 without one.
  options.weights = [](const Op &, std::optional<int64_t> instance) {
    return std::vector<double>{instance ? double(*instance + 1) : 10};
  };
  std::map<std::string, std::vector<double>> gradients;
  options.accumulate = [&](const Op &op, std::optional<int64_t> instance,
                           const RefTensor &value) {
    std::string key = op.get(param::name).str();
    gradients[instance ? key + std::to_string(*instance) : key] = value.data;
  };
  std::vector<RefTensor> outputs;
  ASSERT_TRUE(interpretModule(*module, *module->findFunction("model"),
                              {RefTensor{two, {1, 2}}, RefTensor{two, {1, 0}}},
                              outputs, diags, options));
  using Elements = std::vector<double>;
  EXPECT_EQ(outputs[0].data, Elements({24, 48})); // times 2, 3, 4
  EXPECT_EQ(outputs[1].data, Elements({1, 2, 2, 4, 6, 12}));
  // Down: 24 * 4 + 1 = 97, 97 * 3 + 1 = 292, 292 * 2 + 1 = 585; and 48 * 24.
  EXPECT_EQ(outputs[2].data, Elements({585, 1152}));
  EXPECT_EQ(gradients["scale.w3"], Elements({24 * 6 + 48 * 12}));
  EXPECT_EQ(gradients["scale.w2"], Elements({97 * 2 + 192 * 4}));
  EXPECT_EQ(gradients["scale.w1"], Elements({292 * 1 + 576 * 2}));
  EXPECT_EQ(gradients["model.v"], Elements({10, 20}));
}

TEST(HostFunctions, DrawOtherWeightsForOtherInstances) {
  Diagnostics diags;
  std::unique_ptr<Module> module = parseIR(program, opTable(), diags);
  ASSERT_TRUE(module);
  const Op &weight = module->findFunction("scale")->body().front();
  EXPECT_EQ(randomWeight(weight, 1), randomWeight(weight, 1));
  EXPECT_NE(randomWeight(weight, 1), randomWeight(weight, 2));
  EXPECT_NE(randomWeight(weight, 1), randomWeight(weight));
}
