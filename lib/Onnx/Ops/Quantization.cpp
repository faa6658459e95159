//===- Quantization.cpp - quantized values and products -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "Quantized.h"
#include "Windows.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"

using namespace anec;
using namespace anec::onnx;

Val onnx::spread(Emitter &e, Val vector, Val x, ScaleAxis along) {
  int64_t axis = along.axis;
  if (along.block > 0) {
    Shape blocks;
    for (int64_t i = 0; i != x.dim(axis); ++i)
      blocks.push_back(i / along.block);
    return e.gather(vector, e.list(blocks), axis);
  }
  if (vector.size() == 1)
    return e.reshape(vector, {});
  Shape shape(size_t(x.rank()), 1);
  shape[size_t(axis)] = vector.size();
  return e.reshape(vector, shape);
}

Val onnx::saturated(Emitter &e, Val x, DType dtype) {
  double range = double(1 << bitWidth(dtype));
  double least = isSigned(dtype) ? -range / 2 : 0;
  Val low = e.scalar(x.dtype(), least);
  Val high = e.scalar(x.dtype(), least + range - 1);
  x = e.binary(ops::Minimum,
               e.binary(ops::Maximum, e.unary(ops::Round, x), low), high);
  return e.cast(x, nativeType(dtype));
}

Val onnx::quantized(Emitter &e, Val x, Val scale, Val zero, ScaleAxis axis,
                    DType dtype) {
  Val result = e.unary(ops::Round, e.div(x, spread(e, scale, x, axis)));
  if (zero)
    result = e.add(result, spread(e, e.cast(zero, x.dtype()), x, axis));
  return saturated(e, result, dtype);
}

Val onnx::shifted(Emitter &e, Val x, Val zero, ScaleAxis axis, DType dtype) {
  Val result = e.cast(x, dtype);
  return zero ? e.sub(result, spread(e, e.cast(zero, dtype), x, axis)) : result;
}

/// The axis of the scales; the node has failed if they do not match.
static ScaleAxis scaleAxis(Node &node, Val x, Val scale, Val zero) {
  int64_t axis = node.knows("axis") ? node.attr("axis", 1) : 1;
  int64_t block = node.opset() < 21 ? 0 : node.attr("block_size", 0);
  if (scale.size() == 1 && block == 0)
    return {};
  axis = node.normalized(axis, x.rank());
  if (node.failed())
    return {};
  Shape wanted = {x.dim(axis)};
  if (block < 0 || block > x.dim(axis)) {
    node.fail("`block_size` is " + llvm::Twine(block) + ", and the axis has " +
              llvm::Twine(x.dim(axis)) + " elements");
    return {};
  }
  if (block > 0) {
    wanted = x.shape();
    wanted[size_t(axis)] = (x.dim(axis) + block - 1) / block;
  }
  if (scale.shape() != wanted || (zero && zero.shape() != wanted))
    node.fail("the scales and zero points must have the shape " +
              shapeToString(wanted));
  return {axis, block};
}

static bool isByte(DType dtype) {
  return dtype == DType::Int8 || dtype == DType::UInt8;
}

/// The type that an attribute names; `fallback` where it is 0.
static DType floatAttr(Node &node, StringRef name, DType fallback) {
  auto given = proto::ElementType(node.attr(name, 0));
  if (given == proto::ElementType::Undefined)
    return fallback;
  std::optional<DType> dtype = dtypeOf(given);
  if (dtype == DType::FP16 || dtype == DType::FP32)
    return *dtype;
  node.refuse("`" + name + "` " + spelling(given));
  return fallback;
}

void onnx::readQuantizeLinear(Node &node) {
  node.ignore("saturate");
  Val x = node.in(0), scale = node.in(1), zero = node.maybe(2);
  if (node.failed())
    return;
  DType dtype = zero ? node.raw(2).dtype() : DType::UInt8;
  auto given =
      proto::ElementType(node.opset() < 21 ? 0 : node.attr("output_dtype", 0));
  if (given != proto::ElementType::Undefined) {
    std::optional<DType> output = dtypeOf(given);
    if (!output)
      return node.refuse("elements of type " + spelling(given));
    if (zero && *output != dtype)
      return node.fail("`output_dtype` is not the type of the zero point");
    dtype = *output;
  }
  if (!isInteger(dtype) || bitWidth(dtype) > 16)
    return node.refuse("only integers of 4, 8 and 16 bits have a counterpart");
  ScaleAxis axis = scaleAxis(node, x, scale, zero);
  // That of the division.
  DType precision = scale.dtype();
  if (node.opset() >= 23)
    precision = floatAttr(node, "precision", precision);
  if (node.failed())
    return;
  x = node.e.cast(x, precision);
  scale = node.e.cast(scale, precision);
  node.out(quantized(node.e, x, scale, zero, axis, dtype));
}

void onnx::readDequantizeLinear(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), scale = node.in(1), zero = node.maybe(2);
  if (node.failed())
    return;
  ScaleAxis axis = scaleAxis(node, x, scale, zero);
  if (node.failed())
    return;
  // That of the product, too.
  if (node.opset() >= 23)
    scale = e.cast(scale, floatAttr(node, "output_dtype", scale.dtype()));
  // Weights stay small.
  constexpr int64_t leastWeight = 1024;
  bool isWeight = x.isKnown() && scale.isKnown() && isByte(x.dtype()) &&
                  x.rank() > 1 && x.size() >= leastWeight &&
                  (!zero || zero.isKnown());
  if (isWeight && axis.block > 0 && x.dim(axis.axis) % axis.block == 0) {
    Vals operands = {x, scale};
    if (zero)
      operands.push_back(zero);
    return node.out(e.make(ops::ConstexprBlockwiseShiftScale, operands));
  }
  if (isWeight && axis.block == 0) {
    if (!zero)
      zero = e.filled(x.dtype(), scale.shape(), 0);
    Shape shape = scale.size() == 1 ? Shape() : Shape{scale.size()};
    return node.out(e.make(ops::ConstexprAffineDequantize,
                           {x, e.reshape(zero, shape), e.reshape(scale, shape)},
                           {Attr(param::axis, axis.axis)}));
  }
  Val result = shifted(e, x, zero, axis, scale.dtype());
  node.out(e.mul(result, spread(e, scale, x, axis)));
}

DynamicallyQuantized onnx::quantizedByValues(Emitter &e, Val x) {
  Val zero = e.scalar(DType::FP32, 0);
  Shape axes;
  for (int64_t axis = 0; axis != x.rank(); ++axis)
    axes.push_back(axis);
  Val low =
      e.binary(ops::Minimum, zero, e.reduce(ops::ReduceMin, x, axes, false));
  Val high =
      e.binary(ops::Maximum, zero, e.reduce(ops::ReduceMax, x, axes, false));
  Val scale = e.mul(e.sub(high, low), 1.0 / 255);
  Val point = saturated(e, e.div(e.mul(low, -1), scale), DType::UInt8);
  return {quantized(e, x, scale, point, 0, DType::UInt8), scale, point};
}

static void dynamicQuantizeLinear(Node &node) {
  DynamicallyQuantized result = quantizedByValues(node.e, node.in(0));
  node.out(0, result.values);
  node.out(1, result.scale);
  node.out(2, result.zero);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Val onnx::integerProduct(Emitter &e, Val a, Val aZero, Val b, Val bZero) {
  Val x = shifted(e, a, aZero, a.rank() - 2, DType::FP32);
  Val y = shifted(e, b, bZero, b.rank() - 1, DType::FP32);
  return e.matmul(x, y);
}

static bool areMatrices(Node &node, Val a, Val b) {
  if (!node.failed() && (a.rank() < 2 || b.rank() < 2))
    node.fail("the inputs must be matrices");
  return !node.failed();
}

static void matMulInteger(Node &node) {
  Val a = node.in(0), b = node.in(1);
  if (!areMatrices(node, a, b))
    return;
  Val aZero = node.maybe(2), bZero = node.maybe(3);
  node.out(
      node.e.cast(integerProduct(node.e, a, aZero, b, bZero), DType::Int32));
}

Val onnx::requantized(Node &node, Val sum, Val scale, size_t output) {
  Emitter &e = node.e;
  Val y = node.in(output), zero = node.in(output + 1);
  Val factor = e.div(scale, e.reshape(y, {}));
  Val rounded = e.unary(ops::Round, e.mul(sum, factor));
  Val shift = e.reshape(e.cast(zero, DType::FP32), {});
  return saturated(e, e.add(rounded, shift), zero.dtype());
}

static void qLinearMatMul(Node &node) {
  Emitter &e = node.e;
  Val a = node.in(0), aScale = node.in(1), aZero = node.in(2), b = node.in(3),
      bScale = node.in(4), bZero = node.in(5);
  if (!areMatrices(node, a, b))
    return;
  aScale = spread(e, aScale, a, a.rank() - 2);
  bScale = spread(e, bScale, b, b.rank() - 1);
  Val scale = e.mul(aScale, bScale);
  node.out(requantized(node, integerProduct(e, a, aZero, b, bZero), scale, 6));
}

static void convInteger(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), weight = node.in(1);
  if (!hasPlane(node, x) || !hasPlane(node, weight))
    return;
  Val shiftedX = shifted(e, x, node.maybe(2), 1, DType::FP32);
  weight = shifted(e, weight, node.maybe(3), 0, DType::FP32);
  node.out(e.cast(convolved(node, shiftedX, weight, {}), DType::Int32));
}

Val onnx::channelsMoved(Emitter &e, Val x, bool toFront) {
  Shape perm = {0};
  int64_t rank = x.rank();
  if (toFront)
    perm.push_back(rank - 1);
  for (int64_t axis = toFront ? 1 : 2; axis < rank - (toFront ? 1 : 0); ++axis)
    perm.push_back(axis);
  if (!toFront)
    perm.push_back(1);
  return e.transpose(x, perm);
}

void onnx::readQLinearConv(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), xScale = node.in(1), xZero = node.in(2),
      weight = node.in(3), wScale = node.in(4), wZero = node.in(5);
  bool isLast =
      node.knows("channels_last") && node.attr("channels_last", 0) != 0;
  if (!hasPlane(node, x) || !hasPlane(node, weight))
    return;
  if (isLast)
    x = channelsMoved(e, x, true);
  Val bias = node.maybe(8);
  bias = bias ? e.cast(bias, DType::FP32) : Val();
  Val shiftedX = shifted(e, x, xZero, 1, DType::FP32);
  weight = shifted(e, weight, wZero, 0, DType::FP32);
  Val sum = convolved(node, shiftedX, weight, bias);
  wScale = spread(e, wScale, x, 1);
  Val scale = e.mul(wScale, e.reshape(xScale, {}));
  Val result = requantized(node, sum, scale, 6);
  node.out(isLast && result ? channelsMoved(e, result, false) : result);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow quantizationTable[] = {
    {"ConvInteger", convInteger, 10, "in fp32: exact for sums up to 2^24"},
    {"DequantizeLinear", readDequantizeLinear, 10},
    {"DynamicQuantizeLinear", dynamicQuantizeLinear, 11},
    {"MatMulInteger", matMulInteger, 10, "in fp32: exact for sums up to 2^24"},
    {"QLinearConv", readQLinearConv, 10, "in fp32: exact for sums up to 2^24"},
    {"QLinearMatMul", qLinearMatMul, 10, "in fp32: exact for sums up to 2^24"},
    {"QuantizeLinear", readQuantizeLinear, 10,
     "to integers of 4, 8 and 16 bits"},
};

llvm::ArrayRef<OpRow> onnx::quantizationRows() { return quantizationTable; }
