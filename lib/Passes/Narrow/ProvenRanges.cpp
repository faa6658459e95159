//===- ProvenRanges.cpp - what values can be, whatever the inputs ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProvenRanges.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Pool.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"

using namespace anec;

/// Beyond so many elements, a constant is not looked through.
static constexpr int64_t maxElements = 1 << 20;

static Range ofConstant(const Constant &constant) {
  if (constant.dtype() == DType::String || constant.numElements() == 0 ||
      constant.numElements() > maxElements)
    return {};
  Range range{std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity()};
  for (double element : constant.asDoubles()) {
    if (std::isnan(element))
      return {};
    range.least = std::min(range.least, element);
    range.most = std::max(range.most, element);
  }
  return range;
}

/// 0 times infinity is 0 here: an infinite bound stands for any number.
static double productOfBounds(double x, double y) {
  return x == 0 || y == 0 ? 0 : x * y;
}

static Range times(Range x, Range y) {
  double all[] = {
      productOfBounds(x.least, y.least), productOfBounds(x.least, y.most),
      productOfBounds(x.most, y.least), productOfBounds(x.most, y.most)};
  return {*std::min_element(std::begin(all), std::end(all)),
          *std::max_element(std::begin(all), std::end(all))};
}

static Range plus(Range x, Range y) {
  return {x.least + y.least, x.most + y.most};
}
static Range negated(Range x) { return {-x.most, -x.least}; }
static Range both(Range x, Range y) {
  return {std::min(x.least, y.least), std::max(x.most, y.most)};
}
/// Of a function that grows.
static Range mapped(Range x, double (*fn)(double)) {
  return {fn(x.least), fn(x.most)};
}

/// Whether `op` is x minus the largest of x.
static bool isBelowLargest(const Op &op) {
  const Op *largest = op.operand(1u)->definingOp();
  return largest && largest->is(ops::ReduceMax) &&
         largest->operand(0u) == op.operand(0u);
}

/// Of ops whose results are elements of their operands, or means of them.
static bool keepsRange(const OpDef &def) {
  static constexpr const OpDef *rows[] = {
      &ops::Reshape,     &ops::Transpose,    &ops::ExpandDims,
      &ops::Squeeze,     &ops::SliceByIndex, &ops::SliceBySize,
      &ops::Tile,        &ops::Split,        &ops::Identity,
      &ops::ReduceMax,   &ops::ReduceMin,    &ops::ReduceMean,
      &ops::MaxPool,     &ops::Reverse,      &ops::Flatten2d,
      &ops::Gather,      &ops::GatherNd,     &ops::GatherAlongAxis,
      &ops::StopGradient};
  return llvm::is_contained(rows, &def);
}

/// The results of ops that are bounded for all operands.
static std::optional<Range> bounded(const Op &op) {
  if (op.is(ops::Sigmoid) || op.is(ops::Softmax) || op.is(ops::SigmoidHard))
    return Range{0, 1};
  if (op.is(ops::Tanh) || op.is(ops::Erf) || op.is(ops::Sin) ||
      op.is(ops::Cos) || op.is(ops::Softsign) || op.is(ops::Sign))
    return Range{-1, 1};
  if (op.is(ops::Relu6))
    return Range{0, 6};
  if (op.is(ops::Clip))
    return Range{op.get(param::alpha), op.get(param::beta)};
  return std::nullopt;
}

static Range ofCast(const Op &op, Range x) {
  const TensorType &from = op.operand(0u)->type;
  return from.dtype == DType::Bool ? Range{0, 1} : x;
}

static Range ofReductionSum(const Op &op, Range x) {
  double count = double(op.operand(0u)->type.numElements()) /
                 double(std::max<int64_t>(1, op.result()->type.numElements()));
  return times(x, {count, count});
}

Range ProvenRanges::computed(const Op &op) const {
  if (op.is(ops::Const))
    return ofConstant(*op.constant(param::val));
  if (std::optional<Range> range = bounded(op))
    return *range;
  if (op.result()->type.dtype == DType::Bool)
    return {0, 1};
  if (op.numOperands() == 0 || !op.operand(0u))
    return {};
  Range x = of(op.operand(0u));
  if (op.is(ops::Cast))
    return ofCast(op, x);
  if (keepsRange(op.def()))
    return x;
  if (op.is(ops::AvgPool)) // Of elements and zeros.
    return both(x, {0, 0});
  if (op.is(ops::ReduceSum))
    return ofReductionSum(op, x);
  if (op.is(ops::Relu))
    return mapped(x, [](double v) { return std::max(v, 0.0); });
  if (op.is(ops::Exp))
    return mapped(x, [](double v) { return std::exp(v); });
  if (op.is(ops::Sqrt))
    return {std::sqrt(std::max(x.least, 0.0)),
            std::sqrt(std::max(x.most, 0.0))};
  if (op.is(ops::Softplus))
    return {0, std::max(x.most, 0.0) + 0.7};
  if (op.is(ops::Abs))
    return {x.least > 0 ? x.least : 0, x.magnitude()};
  if (op.is(ops::Square))
    return {0, productOfBounds(x.magnitude(), x.magnitude())};
  if (op.is(ops::ReduceL2Norm) || op.is(ops::ReduceSumSquare) ||
      op.is(ops::ReduceL1Norm))
    return {0, std::numeric_limits<double>::infinity()};
  if (op.is(ops::Concat) || op.is(ops::Stack)) {
    for (const Value *operand : op.operandValues())
      x = both(x, of(operand));
    return x;
  }
  if (op.numOperands() < 2 || !op.operand(1u))
    return {};
  Range y = of(op.operand(1u));
  if (op.is(ops::Select))
    return both(y, of(op.operand(2u)));
  if (op.is(ops::Add))
    return plus(x, y);
  if (op.is(ops::Sub)) {
    Range range = plus(x, negated(y));
    return isBelowLargest(op) ? Range{range.least, std::min(range.most, 0.0)}
                              : range;
  }
  if (op.is(ops::Mul) && op.operand(0u) == op.operand(1u))
    return {0, productOfBounds(x.magnitude(), x.magnitude())};
  if (op.is(ops::Mul))
    return times(x, y);
  if (op.is(ops::RealDiv) && (y.least > 0 || y.most < 0))
    return times(x, {1 / y.most, 1 / y.least});
  if (op.is(ops::Pow) && y.least == 2 && y.most == 2)
    return {0, productOfBounds(x.magnitude(), x.magnitude())};
  if (op.is(ops::Maximum))
    return {std::max(x.least, y.least), std::max(x.most, y.most)};
  if (op.is(ops::Minimum))
    return {std::min(x.least, y.least), std::min(x.most, y.most)};
  return {};
}

ProvenRanges::ProvenRanges(const Function &function) {
  for (const Op &op : function.body()) {
    if (op.numResults() == 0)
      continue;
    Range range = computed(op);
    // Infinities of opposite signs.
    if (std::isnan(range.least) || std::isnan(range.most) ||
        range.least > range.most)
      range = {};
    for (const Value *result : op.resultValues())
      ranges[result] = range;
  }
}
