//===- Quantized.cpp - quantized layers of onnxruntime --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Ops/Quantized.h"
#include "../Families.h"
#include "../Ops/Pooling.h"
#include "../Ops/Recurrent.h"
#include "../Ops/Windows.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Softmax.h"

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// In floats, between integers
//===----------------------------------------------------------------------===//

/// The floats of the input `at`, with a scale and a zero point after it.
static Val floatsOf(Node &node, size_t at) {
  Emitter &e = node.e;
  Val x = node.in(at), scale = node.in(at + 1), zero = node.maybe(at + 2);
  if (node.failed())
    return {};
  Val steps = shifted(e, x, zero, {}, scale.dtype());
  return e.mul(steps, e.reshape(scale, {}));
}

/// Quantizes with the scale `at` and the zero point after it.
static Val quantizedTo(Node &node, Val x, size_t at, DType dtype) {
  Val scale = node.in(at), zero = node.maybe(at + 1);
  if (node.failed() || !x)
    return {};
  return quantized(node.e, x, scale, zero, {}, dtype);
}

template <const OpDef &Def>
static void elementwise(Node &node) {
  Val x = floatsOf(node, 0), y = floatsOf(node, 3);
  Val result = node.e.binary(Def, x, y);
  node.out(quantizedTo(node, result, 6, node.raw(0).dtype()));
}

static void sigmoid(Node &node) {
  Val result = node.e.unary(ops::Sigmoid, floatsOf(node, 0));
  node.out(quantizedTo(node, result, 3, node.raw(0).dtype()));
}

static void leakyRelu(Node &node) {
  double alpha = node.attrNumber("alpha", 0.01f);
  Val result =
      node.e.unary(ops::LeakyRelu, floatsOf(node, 0),
                   {{param::alpha, Constant::scalar(DType::FP32, alpha)}});
  node.out(quantizedTo(node, result, 3, node.raw(0).dtype()));
}

template <typename Pool>
static void pool(Node &node, Pool pool) {
  Emitter &e = node.e;
  bool isLast = node.attr("channels_last", 0) != 0;
  Val x = floatsOf(node, 0);
  if (!hasPlane(node, x))
    return;
  Val result = pool(isLast ? channelsMoved(e, x, true) : x);
  if (result && isLast)
    result = channelsMoved(e, result, false);
  node.out(quantizedTo(node, result, 3, node.raw(0).dtype()));
}

static void averagePool(Node &node) {
  pool(node, [&](Val x) { return averaged(node, x); });
}

static void globalAveragePool(Node &node) {
  pool(node, [&](Val x) {
    Shape axes;
    for (int64_t axis = 2; axis < x.rank(); ++axis)
      axes.push_back(axis);
    return node.e.reduce(ops::ReduceMean, x, axes, true);
  });
}

/// Of integers, whose order is that of what they stand for.
static void maxPoolOfLast(Node &node) {
  Val x = node.in(0);
  if (!hasPlane(node, x))
    return;
  Val result = maxima(node, channelsMoved(node.e, x, true));
  if (!result)
    return;
  Val moved = channelsMoved(node.e, result, false);
  node.out(node.e.cast(moved, node.raw(0).dtype()));
}

static void concat(Node &node) {
  Vals parts;
  for (size_t at = 2; at + 1 < node.numInputs(); at += 3)
    parts.push_back(floatsOf(node, at));
  if (node.failed() || parts.empty())
    return node.failed() ? void() : node.fail("there are no inputs");
  int64_t axis = node.axis(0, parts.front().rank());
  if (node.failed())
    return;
  Val all = node.e.concat(parts, axis);
  node.out(quantizedTo(node, all, 0, node.raw(1).dtype()));
}

static void softmax(Node &node) {
  Emitter &e = node.e;
  Val x = floatsOf(node, 0);
  if (node.failed())
    return;
  int64_t axis = node.axis(-1, x.rank());
  bool isFlat = node.attr("opset", 13) < 13;
  if (node.failed())
    return;
  int64_t rows = 1;
  for (int64_t i = 0; i != axis; ++i)
    rows *= x.dim(i);
  Val flat =
      isFlat ? e.reshape(x, {rows, x.size() / std::max<int64_t>(rows, 1)}) : x;
  Val result = e.make(ops::Softmax, {flat}, {{param::axis, isFlat ? 1 : axis}});
  result = e.reshape(result, x.shape());
  node.out(quantizedTo(node, result, 3, node.raw(0).dtype()));
}

static void reduceMean(Node &node) {
  Val x = floatsOf(node, 0);
  Shape axes;
  for (int64_t axis : node.attrInts("axes"))
    axes.push_back(node.normalized(axis, x.rank()));
  bool keeps = node.attr("keepdims", 1) != 0;
  if (node.failed())
    return;
  if (axes.empty())
    for (int64_t axis = 0; axis != x.rank(); ++axis)
      axes.push_back(axis);
  Val result = node.e.reduce(ops::ReduceMean, x, axes, keeps);
  node.out(quantizedTo(node, result, 3, node.raw(0).dtype()));
}

static void where(Node &node) {
  Val condition = node.in(0), x = floatsOf(node, 1), y = floatsOf(node, 4);
  Val result = node.e.select(condition, x, y);
  node.out(quantizedTo(node, result, 7, node.raw(1).dtype()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The product of integers times both scales, plus a bias.
static Val scaledProduct(Node &node, Val a, Val aScale, Val aZero, Val b,
                         Val bScale, Val bZero, Val bias) {
  Emitter &e = node.e;
  if (node.failed())
    return {};
  if (a.rank() < 2 || b.rank() < 2) {
    node.fail("the inputs must be matrices");
    return {};
  }
  Val rows = spread(e, aScale, a, a.rank() - 2);
  Val scale = e.mul(rows, spread(e, bScale, b, b.rank() - 1));
  Val product = e.mul(integerProduct(e, a, aZero, b, bZero), scale);
  return bias ? e.add(product, bias) : product;
}

static void dynamicQuantizeMatMul(Node &node) {
  Val x = node.in(0), b = node.in(1), scale = node.in(2);
  Val zero = node.maybe(3), bias = node.maybe(4);
  if (node.failed())
    return;
  DynamicallyQuantized a = quantizedByValues(node.e, x);
  node.out(
      scaledProduct(node, a.values, a.scale, a.zero, b, scale, zero, bias));
}

static void matMulIntegerToFloat(Node &node) {
  Val a = node.in(0), b = node.in(1), aScale = node.in(2), bScale = node.in(3);
  Val aZero = node.maybe(4), bZero = node.maybe(5), bias = node.maybe(6);
  node.out(scaledProduct(node, a, aScale, aZero, b, bScale, bZero, bias));
}

/// alpha * a_scale * b_scale * (A B + C), as floats or quantized.
static void qGemm(Node &node) {
  Emitter &e = node.e;
  Val a = node.in(0), aScale = node.in(1), aZero = node.in(2), b = node.in(3),
      bScale = node.in(4), bZero = node.in(5);
  bool transA = node.attr("transA", 0) != 0;
  bool transB = node.attr("transB", 0) != 0;
  if (node.failed())
    return;
  if (a.rank() != 2 || b.rank() != 2)
    return node.fail("the inputs must be matrices");
  if (transA)
    a = e.transpose(a, {1, 0});
  if (transB)
    b = e.transpose(b, {1, 0});
  Val sum = integerProduct(e, a, e.reshape(aZero, {}), b, bZero);
  if (node.has(6))
    sum = e.add(sum, e.cast(node.in(6), DType::FP32));
  Val columns = spread(e, bScale, b, 1);
  Val scale = e.mul(columns, e.reshape(aScale, {}));
  scale = e.mul(scale, node.attrNumber("alpha", 1));
  node.out(node.has(7) && node.has(8) ? requantized(node, sum, scale, 7)
                                      : e.mul(sum, scale));
}

//===----------------------------------------------------------------------===//
// Recurrent layers
//===----------------------------------------------------------------------===//

/// The weight `at`, [directions, inputs, gates], as floats [directions, gates,
/// inputs]; its scale and zero point are `scaleAt` and the next.
static Val gateWeights(Node &node, size_t at, size_t scaleAt) {
  Emitter &e = node.e;
  Val x = node.in(at), scale = node.in(scaleAt), zero = node.in(scaleAt + 1);
  if (node.failed())
    return {};
  auto perGate = [&](Val numbers) {
    return numbers.rank() == 2
               ? e.reshape(numbers, {numbers.dim(0), 1, numbers.dim(1)})
               : e.reshape(numbers, {numbers.size(), 1, 1});
  };
  Val shift = perGate(e.cast(zero, scale.dtype()));
  Val steps = e.sub(e.cast(x, scale.dtype()), shift);
  return e.transpose(e.mul(steps, perGate(scale)), {0, 2, 1});
}

/// Of its floats: onnxruntime rounds the input and the state of each step to
/// uint8, which is faster there.
static void dynamicQuantizeLstm(Node &node) {
  node.ignore("activation_alpha");
  node.ignore("activation_beta");
  Val input = gateWeights(node, 1, 8), hidden = gateWeights(node, 2, 10);
  if (!node.failed())
    readLstm(node, input, hidden);
}

static constexpr OpRow microsoftQuantizedTable[] = {
    {"DequantizeLinear", readDequantizeLinear},
    {"DynamicQuantizeLSTM", dynamicQuantizeLstm, 1,
     "input and state stay floats, which onnxruntime rounds to 8 bits"},
    {"DynamicQuantizeMatMul", dynamicQuantizeMatMul},
    {"MatMulIntegerToFloat", matMulIntegerToFloat},
    {"NhwcMaxPool", maxPoolOfLast},
    {"QGemm", qGemm},
    {"QLinearAdd", elementwise<ops::Add>},
    {"QLinearAveragePool", averagePool},
    {"QLinearConcat", concat},
    {"QLinearConv", readQLinearConv},
    {"QLinearGlobalAveragePool", globalAveragePool},
    {"QLinearLeakyRelu", leakyRelu},
    {"QLinearMul", elementwise<ops::Mul>},
    {"QLinearReduceMean", reduceMean},
    {"QLinearSigmoid", sigmoid},
    {"QLinearSoftmax", softmax},
    {"QLinearWhere", where},
    {"QuantizeLinear", readQuantizeLinear, 1,
     "to integers of 4, 8 and 16 bits"},
};

llvm::ArrayRef<OpRow> onnx::microsoftQuantizedRows() {
  return microsoftQuantizedTable;
}
