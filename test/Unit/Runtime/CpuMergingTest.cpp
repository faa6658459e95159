//===- CpuMergingTest.cpp - ops that are part of the one before them ------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "test/Unit/Runtime/CpuGraph.h"

using namespace anec;

namespace {

/// A convolution of constants, and the norm after it.
struct NormedConv {
  Shape x, weight;
  int64_t groups = 1, stride = 1, pad = 0;
  bool bias = false, gamma = true, beta = true;
  DType dtype = DType::FP32;

  Value *conv(Graph &graph, Value *image) const {
    size_t spatial = x.size() - 2;
    llvm::SmallVector<int64_t, 3> strides(spatial, stride);
    llvm::SmallVector<int64_t, 6> pads(2 * spatial, pad);
    llvm::SmallVector<Value *, 3> operands = {
        image, graph.constant({dtype, weight}, 3)};
    if (bias)
      operands.push_back(graph.constant({dtype, {weight[0]}}, 4));
    return graph.op(ops::Conv, operands,
                    {Attr(param::strides, strides), Attr(param::pad, pads),
                     Attr(param::groups, groups),
                     Attr(param::padType, PadType::Custom)});
  }
  Value *norm(Graph &graph, Value *value) const {
    TensorType channel(dtype, {weight[0]});
    Value *variance = graph.op(ops::Const, {},
                               Attr(param::val, toConstant(positive(channel))));
    return graph.op(ops::BatchNorm,
                    {value, graph.constant(channel, 5), variance,
                     gamma ? graph.constant(channel, 7) : nullptr,
                     beta ? graph.constant(channel, 8) : nullptr});
  }

private:
  static RefTensor positive(TensorType type) {
    RefTensor tensor = randomTensor(type, 6);
    for (double &element : tensor.data)
      element = 0.25 + std::abs(element);
    return tensor;
  }
};

} // namespace

/// The ops of each step in fp32 or in fp16 numerics.
static std::vector<std::string> stepsOf(Graph &graph, Numerics numerics) {
  LoadOptions options;
  options.numerics = numerics;
  options.timeSteps = true;
  auto executable =
      createCpuBackend()->load(*graph.function(), options, graph.diags);
  std::vector<std::string> steps;
  for (const StepTime &time : executable->stepTimes())
    steps.push_back(time.ops);
  return steps;
}

static const std::string together = "conv, batch_norm";

TEST(CpuMerging, FoldsNormsIntoWeights) {
  const NormedConv cases[] = {
      {.x = {1, 3, 20, 21}, .weight = {40, 3, 7, 7}, .stride = 2, .pad = 3},
      {.x = {2, 24, 9, 10}, .weight = {70, 24, 3, 3}, .pad = 1, .bias = true},
      {.x = {1, 130, 14, 13}, .weight = {33, 130, 1, 1}, .gamma = false},
      {.x = {1, 16, 9, 9},
       .weight = {16, 1, 3, 3},
       .groups = 16,
       .beta = false},
      {.x = {2, 8, 30}, .weight = {5, 8, 4}, .bias = true},
      {.x = {1, 4, 5, 5}, .weight = {6, 4, 5, 4}},
      {.x = {1, 36, 1, 40}, .weight = {40, 18, 1, 3}, .groups = 2},
  };
  for (const NormedConv &each : cases) {
    SCOPED_TRACE(shapeToString(each.x) + " " + shapeToString(each.weight));
    Graph graph;
    Value *conv = each.conv(graph, graph.input(DType::FP32, each.x));
    Value *normed = each.norm(graph, conv);
    graph.results({graph.op(ops::Relu, {normed})});
    check(graph);
    for (Numerics numerics : {Numerics::FP32, Numerics::FP16})
      EXPECT_EQ(stepsOf(graph, numerics).front(), together);
  }
}

TEST(CpuMerging, KeepsNormsApart) {
  NormedConv plain = {.x = {1, 6, 8, 9}, .weight = {20, 6, 3, 3}};
  {
    // Another op reads what is normalized.
    Graph graph;
    Value *conv = plain.conv(graph, graph.input(DType::FP32, plain.x));
    graph.results({plain.norm(graph, conv), graph.op(ops::Relu, {conv})});
    check(graph);
    EXPECT_EQ(stepsOf(graph, Numerics::FP32).front(), "conv");
  }
  {
    // The result of the function is.
    Graph graph;
    Value *conv = plain.conv(graph, graph.input(DType::FP32, plain.x));
    graph.results({plain.norm(graph, conv), conv});
    check(graph);
    EXPECT_EQ(stepsOf(graph, Numerics::FP32).front(), "conv");
  }
  {
    // What is normalized is rounded to fp16.
    NormedConv half = plain;
    half.dtype = DType::FP16;
    Graph graph;
    Value *conv = half.conv(graph, graph.input(half.x));
    graph.results({half.norm(graph, conv)});
    check(graph);
    EXPECT_EQ(stepsOf(graph, Numerics::FP16).front(), "conv");
  }
}

TEST(CpuMerging, SharesAWeightWithAConvolutionWithoutNorm) {
  NormedConv plain = {.x = {1, 6, 8, 9}, .weight = {20, 6, 3, 3}};
  Graph graph;
  Value *x = graph.input(DType::FP32, plain.x);
  Value *conv = plain.conv(graph, x);
  Value *weight = conv->definingOp()->operand(1u);
  Value *other = graph.op(ops::Conv, {x, weight});
  graph.results({graph.op(ops::Add, {plain.norm(graph, conv), other})});
  check(graph);
}

TEST(CpuMerging, AddsTheBiasOfAProduct) {
  struct Case {
    Shape x, weight, bias;
    bool biasFirst, transposed;
  };
  const Case cases[] = {
      {{1, 70, 48}, {48, 96}, {96}, false, false},
      {{33, 48}, {50, 48}, {1, 50}, true, true},
      {{3, 2, 5, 16}, {16, 40}, {1, 40}, false, false},
      {{1, 64}, {64, 300}, {300}, false, false},
      {{2, 1, 20}, {1, 20, 7}, {1, 1, 7}, true, false},
  };
  for (const Case &each : cases)
    for (DType dtype : {DType::FP32, DType::FP16}) {
      SCOPED_TRACE(shapeToString(each.x) + " " + shapeToString(each.weight));
      Graph graph;
      Value *x = graph.input(dtype, each.x);
      Value *bias = graph.constant({dtype, each.bias}, 4);
      Value *product =
          graph.op(ops::Matmul, {x, graph.constant({dtype, each.weight}, 3)},
                   Attr(param::transposeY, each.transposed));
      Value *sum = each.biasFirst ? graph.op(ops::Add, {bias, product})
                                  : graph.op(ops::Add, {product, bias});
      graph.results({graph.op(ops::Tanh, {sum})});
      check(graph);
      EXPECT_EQ(stepsOf(graph, Numerics::FP32).front(), "matmul, add");
      EXPECT_EQ(stepsOf(graph, Numerics::FP16).front(),
                dtype == DType::FP16 ? "matmul" : "matmul, add");
    }
}

TEST(CpuMerging, KeepsOtherSumsApart) {
  Graph graph;
  Value *x = graph.input(DType::FP32, {6, 8});
  auto product = [&](uint64_t seed) {
    return graph.op(ops::Matmul,
                    {x, graph.constant({DType::FP32, {8, 6}}, seed)});
  };
  auto constant = [&](llvm::ArrayRef<int64_t> shape) {
    return graph.constant({DType::FP32, shape}, 4);
  };
  // A column, a matrix, a number, a product, and one that is read again.
  Value *column = graph.op(ops::Add, {product(1), constant({6, 1})});
  Value *matrix = graph.op(ops::Add, {product(2), constant({6, 6})});
  Value *number = graph.op(ops::Add, {product(3), constant({})});
  Value *both = graph.op(ops::Add, {product(4), product(5)});
  Value *read = product(6);
  Value *again = graph.op(ops::Add, {read, constant({6})});
  graph.results({column, matrix, number, both, again, read});
  check(graph);
  for (const std::string &step : stepsOf(graph, Numerics::FP32))
    EXPECT_NE(step, "matmul, add");
}

TEST(CpuMerging, DividesBeforeErf) {
  for (bool again : {false, true}) {
    Graph graph;
    Value *x = graph.input(DType::FP32, {5, 40});
    Value *root =
        graph.op(ops::Const, {},
                 Attr(param::val,
                      Constant::fromDoubles({DType::FP32, {}}, {1.4142135})));
    Value *quotient = graph.op(ops::RealDiv, {x, root});
    Value *erf = graph.op(ops::Erf, {quotient});
    graph.results({again ? graph.op(ops::Mul, {erf, quotient}) : erf});
    check(graph);
  }
}
