//===- CpuBackendTest.cpp - the CPU backend against the reference ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the executor does to a function (fuse, rename, share memory,
/// choose a kernel), its results must be those of the interpreter.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include "test/Unit/Runtime/CpuGraph.h"
#include <random>

using namespace anec;

//===----------------------------------------------------------------------===//
// Elementwise steps
//===----------------------------------------------------------------------===//

TEST(CpuBackend, BroadcastsAlongEveryPatternOfAxes) {
  const int64_t extents[] = {3, 5, 37};
  auto shape = [&](unsigned mask) {
    Shape result;
    for (unsigned axis = 0; axis < 3; ++axis)
      result.push_back(mask >> axis & 1 ? extents[axis] : 1);
    return result;
  };
  for (unsigned lhs = 0; lhs < 8; ++lhs)
    for (unsigned rhs = 0; rhs < 8; ++rhs) {
      SCOPED_TRACE(std::to_string(lhs) + " with " + std::to_string(rhs));
      Graph graph;
      Value *a = graph.input(shape(lhs)), *b = graph.input(shape(rhs));
      Value *sum = graph.op(ops::Sub, {a, b});
      graph.results({graph.op(ops::Mul, {sum, b}), sum});
      check(graph);
    }
}

TEST(CpuBackend, BroadcastsLowerRanks) {
  Graph graph;
  Value *x = graph.input({2, 3, 4}), *row = graph.input({4});
  Value *scalar = graph.constant({DType::FP16, {}}, 3);
  Value *plane = graph.input({3, 1});
  Value *sum = graph.op(ops::Add, {row, x});
  sum = graph.op(ops::Maximum, {graph.op(ops::Mul, {sum, scalar}), plane});
  graph.results({sum});
  check(graph);
}

TEST(CpuBackend, RaisesToConstantPowers) {
  for (double exponent : {2.0, 3.0, -2.0, 0.5}) {
    SCOPED_TRACE(exponent);
    Graph graph;
    Value *x = graph.input({2, 7, 33});
    Value *power = graph.op(
        ops::Const, {},
        Attr(param::val, Constant::fromDoubles({DType::FP16, {}}, {exponent})));
    // The base is read again after its power.
    Value *base =
        exponent > 1 ? graph.op(ops::Sub, {x, power}) : graph.op(ops::Exp, {x});
    Value *raised = graph.op(ops::Pow, {base, power});
    graph.results({graph.op(ops::Sub, {raised, base})});
    check(graph);
  }
}

TEST(CpuBackend, DividesByConstants) {
  for (double divisor : {8.0, -0.5, 3.0, 0x1p-24, 0.0}) {
    SCOPED_TRACE(divisor);
    Graph graph;
    Value *x = graph.op(ops::Add, {graph.input({5, 33}), graph.input({5, 1})});
    Value *by = graph.op(
        ops::Const, {},
        Attr(param::val, Constant::fromDoubles({DType::FP16, {}}, {divisor})));
    Value *quotient = graph.op(ops::RealDiv, {x, by});
    // Finite, also where one divides by zero.
    graph.results({graph.op(ops::Sub, {graph.op(ops::Softsign, {quotient}), x}),
                   graph.op(ops::Sign, {quotient})});
    check(graph);
  }
}

TEST(CpuBackend, KeepsFusedValuesThatAreReadAgain) {
  Graph graph;
  Value *x = graph.input({16, 300});
  Value *a = graph.op(ops::Sigmoid, {x});
  Value *b = graph.op(ops::Mul, {a, x});
  Value *c = graph.op(ops::Add, {b, b});
  Value *d = graph.op(ops::Sub, {c, a});
  Value *e = graph.op(ops::Softmax, {b}, Attr(param::axis, 1));
  graph.results({d, graph.op(ops::Mul, {graph.op(ops::Relu, {d}), e}), b});
  check(graph);
}

TEST(CpuBackend, RunsLongChainsOfOneShape) {
  Graph graph;
  Value *x = graph.input({1, 96, 1, 257}), *y = graph.input({1, 96, 1, 1});
  Value *value = x;
  for (int i = 0; i < 12; ++i) {
    value = graph.op(ops::Tanh, {graph.op(ops::Add, {value, y})});
    value = graph.op(ops::Maximum, {value, graph.op(ops::Mul, {x, value})});
  }
  graph.results({value});
  check(graph);
}

TEST(CpuBackend, ReadsRenamedValuesOfItsOwnStepWhole) {
  Graph graph;
  Value *x = graph.input({6, 4});
  Value *a = graph.op(ops::Exp, {x});
  Value *renamed = graph.reshape(a, {4, 6});
  Value *b = graph.op(ops::Relu, {a});
  Value *c = graph.op(ops::Mul, {renamed, graph.reshape(b, {4, 6})});
  graph.results(
      {c, renamed, graph.op(ops::Add, {graph.reshape(c, {6, 4}), a})});
  check(graph);
}

TEST(CpuBackend, BroadcastsAValueOfTheStepBefore) {
  Graph graph;
  Value *x = graph.input({1, 8});
  Value *a = graph.op(ops::Square, {x});
  Value *b = graph.op(ops::Add, {graph.input({8, 8}), a});
  graph.results({graph.op(ops::Mul, {b, graph.op(ops::Add, {a, a})})});
  check(graph);
}

TEST(CpuBackend, LetsAStepWaitForItsReader) {
  Graph graph;
  Value *x = graph.input({48, 64}), *weight = graph.input({64, 64});
  Value *gate = graph.op(ops::Silu, {x});
  Value *up = graph.op(ops::Matmul, {x, weight});
  graph.results({graph.op(ops::Mul, {gate, up})});
  check(graph);
  LoadOptions options;
  options.timeSteps = true;
  auto executable =
      createCpuBackend()->load(*graph.function(), options, graph.diags);
  ASSERT_EQ(executable->stepTimes().size(), 2u);
  EXPECT_EQ(executable->stepTimes()[1].ops, "silu, mul");
}

TEST(CpuBackend, RunsAStepBeforeWhatReadsIt) {
  // Between the silu and the product that takes it, its value is read under
  // another name, under its own, or both.
  for (int kind = 0; kind < 3; ++kind) {
    Graph graph;
    Value *x = graph.input({64, 64}), *weight = graph.input({64, 64});
    Value *gate = graph.op(ops::Silu, {x});
    Value *read = kind == 0 ? gate : graph.reshape(gate, {64, 64});
    Value *up = graph.op(ops::Matmul, {read, kind == 1 ? weight : gate});
    Value *product = graph.op(ops::Mul, {gate, up});
    graph.results({product, graph.op(ops::Matmul, {product, gate})});
    check(graph);
  }
}

//===----------------------------------------------------------------------===//
// Interfaces of functions
//===----------------------------------------------------------------------===//

TEST(CpuBackend, ReturnsParametersConstantsAndValuesTwice) {
  Graph graph;
  Value *x = graph.input({3, 5});
  Value *y = graph.op(ops::Relu, {x});
  Value *constant = graph.constant({DType::FP16, {2, 2}}, 9);
  graph.results({x, y, y, graph.reshape(x, {15}), constant});
  check(graph);
}

TEST(CpuBackend, LeavesParametersAloneUntilTheirLastUse) {
  Graph graph;
  Value *x = graph.input({64, 64});
  Value *a = graph.op(ops::Relu, {x});
  Value *b = graph.transpose(a, {1, 0});
  Value *c = graph.op(ops::Matmul, {b, x});
  graph.results({graph.op(ops::Add, {c, graph.transpose(x, {1, 0})}), b});
  check(graph);
}

TEST(CpuBackend, PassesEmptyParametersOn) {
  // No op takes them, but a function may.
  Graph graph;
  Value *x = graph.input({0, 7}), *y = graph.input({2, 7});
  graph.results({x, graph.op(ops::Relu, {y})});
  check(graph);
}

TEST(CpuBackend, ComputesOnIntegersAndBooleans) {
  Graph graph;
  Value *x = graph.input(DType::Int32, {4, 6});
  Value *y = graph.input(DType::Int32, {4, 6}), *f = graph.input({4, 6});
  Value *sum = graph.op(ops::Add, {x, y});
  Value *less = graph.op(ops::Less, {x, sum});
  Value *none = graph.op(ops::LogicalNot, {less});
  Value *chosen = graph.op(ops::Select, {none, f, graph.op(ops::Relu, {f})});
  Value *flipped = graph.transpose(sum, {1, 0});
  Value *large = graph.op(ops::Cast, {graph.op(ops::Mul, {f, f})},
                          Attr(param::dtype, DType::Int32));
  Value *real = graph.op(ops::Cast, {flipped}, Attr(param::dtype, DType::FP16));
  graph.results({sum, less, chosen, flipped, large, real});
  check(graph);
}

TEST(CpuBackend, CastsBetweenFloats) {
  Graph graph;
  Value *x = graph.input(DType::FP32, {5, 33});
  Value *narrow = graph.op(ops::Cast, {x}, Attr(param::dtype, DType::FP16));
  Value *wide = graph.op(ops::Cast, {narrow}, Attr(param::dtype, DType::FP32));
  graph.results({narrow, wide, graph.op(ops::Add, {wide, x})});
  check(graph);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

TEST(CpuBackend, MultipliesBatchesThatBroadcast) {
  struct Case {
    Shape x, y;
  };
  const Case cases[] = {{{2, 3, 4, 5}, {2, 3, 5, 6}}, {{2, 1, 4, 5}, {3, 5, 6}},
                        {{4, 5}, {2, 5, 6}},          {{3, 1, 5}, {5, 6}},
                        {{1, 3, 70, 40}, {40, 90}},   {{2, 33, 1}, {1, 1, 17}}};
  for (const Case &each : cases)
    for (int flags = 0; flags < 4; ++flags) {
      bool transX = flags & 1, transY = flags & 2;
      Graph graph;
      Shape x = each.x, y = each.y;
      if (transX)
        std::swap(x[x.size() - 1], x[x.size() - 2]);
      if (transY)
        std::swap(y[y.size() - 1], y[y.size() - 2]);
      SCOPED_TRACE(shapeToString(x) + " " + shapeToString(y));
      graph.results(
          {graph.op(ops::Matmul, {graph.input(x), graph.input(y)},
                    {Attr(param::transposeX, transX),
                     Attr(param::transposeY, transY)}),
           graph.op(ops::Matmul,
                    {graph.constant({DType::FP16, x}, 5), graph.input(y)},
                    {Attr(param::transposeX, transX),
                     Attr(param::transposeY, transY)}),
           graph.op(ops::Matmul,
                    {graph.input(x), graph.constant({DType::FP16, y}, 5)},
                    {Attr(param::transposeX, transX),
                     Attr(param::transposeY, transY)})});
      check(graph);
    }
}

TEST(CpuBackend, AddsToProducts) {
  Graph graph;
  Value *x = graph.input({1, 96, 1, 130}),
        *residual = graph.input({1, 64, 1, 130});
  Value *weight = graph.constant({DType::FP16, {64, 96, 1, 1}}, 5);
  Value *product = graph.op(ops::Conv, {x, weight});
  Value *sum = graph.op(ops::Add, {residual, product});
  Value *again = graph.op(ops::Conv, {x, weight});
  // `again` is read twice, so it has to be there.
  Value *both = graph.op(ops::Add, {again, again});
  graph.results({sum, both, graph.op(ops::Mul, {both, sum})});
  check(graph);
}

TEST(CpuBackend, Convolves) {
  struct Case {
    Shape x, weight;
    int64_t groups;
    llvm::SmallVector<int64_t, 4> strides, pads, dilations;
  };
  const Case cases[] = {
      {{2, 6, 9, 11}, {4, 6, 3, 3}, 1, {1, 1}, {0, 0, 0, 0}, {1, 1}},
      {{1, 6, 9, 11}, {4, 3, 3, 2}, 2, {2, 1}, {1, 0, 2, 1}, {1, 2}},
      {{1, 8, 7, 7}, {8, 1, 3, 3}, 8, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{3, 5, 40}, {7, 5, 4}, 1, {3}, {2, 1}, {2}},
      {{1, 2, 4, 5, 6},
       {3, 2, 2, 2, 2},
       1,
       {1, 2, 1},
       {0, 1, 1, 0, 0, 1},
       {1, 1, 2}},
      {{2, 12, 1, 50}, {6, 6, 1, 1}, 2, {1, 1}, {0, 0, 0, 0}, {1, 1}},
  };
  for (const Case &each : cases)
    for (bool fixed : {false, true}) {
      SCOPED_TRACE(shapeToString(each.x) + " " + shapeToString(each.weight));
      Graph graph;
      TensorType weightType(DType::FP16, each.weight);
      Value *weight =
          fixed ? graph.constant(weightType, 3) : graph.input(each.weight);
      Value *bias = graph.constant({DType::FP16, {each.weight[0]}}, 4);
      llvm::SmallVector<Attr, 6> attrs = {
          Attr(param::strides, each.strides), Attr(param::pad, each.pads),
          Attr(param::dilations, each.dilations),
          Attr(param::groups, each.groups),
          Attr(param::padType, PadType::Custom)};
      Value *x = graph.input(each.x);
      graph.results({graph.op(ops::Conv, {x, weight, bias}, attrs),
                     graph.op(ops::Conv, {x, weight}, attrs)});
      check(graph);
    }
}

TEST(CpuBackend, KeepsInfinitiesOfProducts) {
  Graph graph;
  Value *x = graph.input({64, 96}), *y = graph.input({96, 80});
  Value *big = graph.constant({DType::FP16, {}}, 3);
  for (int i = 0; i < 14; ++i)
    big = graph.op(ops::Add, {graph.op(ops::Abs, {big}), big});
  // Some elements overflow fp16 before, some in the product.
  Value *large = graph.op(ops::Mul, {x, big});
  large = graph.op(ops::Mul, {large, graph.op(ops::Exp, {x})});
  large = graph.op(ops::Abs, {large});
  graph.results({graph.op(ops::Matmul, {large, graph.op(ops::Exp, {y})})});
  check(graph);
}

//===----------------------------------------------------------------------===//
// Softmax and masks
//===----------------------------------------------------------------------===//

TEST(CpuBackend, NormalizesMaskedScores) {
  for (int64_t axis : {-1, 1}) {
    Graph graph;
    Value *x = graph.input({3, 40, 70});
    Value *mask = graph.constant({DType::FP16, {1, 40, 70}}, 3);
    Value *scale = graph.constant({DType::FP16, {}}, 4);
    Value *masked = graph.op(ops::Add, {graph.op(ops::Mul, {x, scale}), mask});
    Value *probs = graph.op(ops::Softmax, {masked}, Attr(param::axis, axis));
    Value *kept = graph.op(ops::Add, {x, graph.input({40, 1})});
    graph.results({probs, graph.op(ops::Mul, {probs, x}), kept,
                   graph.op(ops::Softmax, {kept}, Attr(param::axis, axis))});
    check(graph);
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(CpuBackend, SharesMemoryAlongAChain) {
  Graph graph;
  constexpr int64_t side = 128;
  Value *value = graph.input({side, side});
  for (int i = 0; i < 20; ++i)
    value = graph.transpose(graph.op(ops::Softmax, {value}), {1, 0});
  graph.results({value});
  std::unique_ptr<Executable> executable =
      createCpuBackend()->load(*graph.function(), {}, graph.diags);
  ASSERT_TRUE(executable);
  // The input, the output, and two in turn between them.
  EXPECT_LE(executable->activationBytes(), 4 * side * side * 4u);
  check(graph);
}

TEST(CpuBackend, KeepsNoMemoryForFusedValues) {
  Graph graph;
  constexpr int64_t side = 256;
  Value *value = graph.input({side, side});
  for (int i = 0; i < 20; ++i)
    value = graph.op(ops::Sigmoid, {graph.op(ops::Add, {value, value})});
  graph.results({value});
  std::unique_ptr<Executable> executable =
      createCpuBackend()->load(*graph.function(), {}, graph.diags);
  ASSERT_TRUE(executable);
  // The input, the output, and two in turn between them.
  EXPECT_LE(executable->activationBytes(), 4 * side * side * 4u);
  check(graph);
}

TEST(CpuBackend, TimesItsSteps) {
  Graph graph;
  Value *x = graph.input({64, 64});
  Value *y = graph.op(ops::Relu, {graph.op(ops::Add, {x, x})});
  graph.results({graph.op(ops::Matmul, {y, x})});
  LoadOptions options;
  options.timeSteps = true;
  std::unique_ptr<Executable> executable =
      createCpuBackend()->load(*graph.function(), options, graph.diags);
  ASSERT_TRUE(executable);
  ASSERT_EQ(executable->stepTimes().size(), 2u);
  EXPECT_EQ(executable->stepTimes()[0].ops, "add, relu");
  EXPECT_EQ(executable->stepTimes()[1].ops, "matmul");
  std::vector<uint8_t> in(64 * 64 * 2), out(64 * 64 * 2);
  llvm::ArrayRef<uint8_t> input(in);
  llvm::MutableArrayRef<uint8_t> output(out);
  ASSERT_TRUE(executable->run(input, output, graph.diags));
  EXPECT_GT(executable->stepTimes()[1].seconds, 0);
}

//===----------------------------------------------------------------------===//
// Random graphs
//===----------------------------------------------------------------------===//

namespace {

/// Adds random ops on three-dimensional fp16 values.
class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : random(seed) {
    for (int i = 0; i < 2; ++i)
      values.push_back(graph.input(randomShape()));
    for (int i = 0, n = 4 + int(pick(16)); i < n; ++i)
      addOp();
    std::vector<Value *> results;
    for (int i = 0, n = 1 + int(pick(3)); i < n; ++i)
      results.push_back(values[values.size() - 1 - pick(values.size() / 2)]);
    graph.results(results);
  }
  Graph graph;

private:
  uint64_t pick(uint64_t count) { return random() % count; }
  Value *any() { return values[pick(values.size())]; }
  Shape randomShape() {
    const int64_t extents[] = {1, 2, 3, 8, 16, 33};
    return {extents[pick(4)], extents[pick(6)], extents[pick(6)]};
  }

  void addOp() {
    Value *x = any();
    const Shape shape = x->type.shape;
    int64_t axis = pick(3);
    switch (pick(11)) {
    case 0:
    case 1:
    case 2:
      return addUnary(x);
    case 3:
    case 4:
    case 5:
      return addBinary(x);
    case 6: {
      llvm::SmallVector<int64_t, 3> perm = {0, 1, 2};
      llvm::shuffle(perm.begin(), perm.end(), random);
      return add(graph.transpose(x, perm));
    }
    case 7:
      return add(graph.reshape(x, {shape[1], 1, shape[0] * shape[2]}));
    case 8:
      return add(graph.op(ops::Softmax, {x}, Attr(param::axis, axis)));
    case 9: {
      Shape begin(3, 0), size = shape;
      size[axis] = 1 + pick(shape[axis]);
      begin[axis] = pick(shape[axis] - size[axis] + 1);
      add(graph.op(ops::SliceBySize, {x},
                   {Attr(param::begin, begin), Attr(param::size, size)}));
      return add(graph.op(ops::Concat, {values.back(), x, values.back()},
                          Attr(param::axis, axis)));
    }
    case 10:
      add(graph.op(ops::ReduceMax, {x},
                   {Attr(param::axes, llvm::ArrayRef<int64_t>(axis)),
                    Attr(param::keepDims, true)}));
      return add(graph.op(ops::Matmul, {x, x}, Attr(param::transposeY, true)));
    }
  }
  void addUnary(Value *x) {
    const OpDef *defs[] = {&ops::Relu, &ops::Sigmoid, &ops::Tanh,
                           &ops::Silu, &ops::Abs,     &ops::Identity};
    add(graph.op(*defs[pick(6)], {x}));
  }
  /// With itself, a value of the same shape, or one that broadcasts.
  void addBinary(Value *x) {
    const OpDef *defs[] = {&ops::Add, &ops::Sub, &ops::Maximum, &ops::Minimum};
    std::vector<Value *> fitting;
    for (Value *value : values)
      if (broadcastShapes(x->type.shape, value->type.shape))
        fitting.push_back(value);
    add(graph.op(*defs[pick(4)], {x, fitting[pick(fitting.size())]}));
  }
  /// Keeps values small, so that neither side overflows.
  void add(Value *value) {
    if (value->type.numElements() > 40000)
      return;
    if (value->definingOp()->is(ops::Matmul))
      value = graph.op(ops::Tanh, {value});
    values.push_back(value);
  }

  std::mt19937 random;
  std::vector<Value *> values;
};

} // namespace

TEST(CpuBackend, AgreesOnRandomGraphs) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraph random(seed);
    check(random.graph);
    if (HasFailure())
      return;
  }
}
