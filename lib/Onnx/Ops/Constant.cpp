//===- Constant.cpp - values that are known -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

static Val integers(Emitter &e, llvm::ArrayRef<int64_t> values) {
  TensorType type(DType::Int64, {int64_t(values.size())});
  return e.constant(
      Constant::copy(type, {reinterpret_cast<const uint8_t *>(values.data()),
                            values.size() * sizeof(int64_t)}));
}

static void constant(Node &node) {
  Emitter &e = node.e;
  if (node.hasAttr("value"))
    return node.out(e.constant(node.attrTensor("value")));
  if (node.hasAttr("value_float"))
    return node.out(e.scalar(DType::FP32, node.attrNumber("value_float", 0)));
  if (node.hasAttr("value_int")) {
    int64_t value = node.wideAttr("value_int", 0);
    return node.out(e.constant(e.known(integers(e, {value}))->reshaped({})));
  }
  if (node.hasAttr("value_ints"))
    return node.out(integers(e, node.wideAttrInts("value_ints")));
  if (node.hasAttr("value_floats")) {
    std::vector<double> values = node.attrNumbers("value_floats");
    return node.out(e.constant(Constant::fromDoubles(
        {DType::FP32, {int64_t(values.size())}}, values)));
  }
  node.refuse("only tensors and numbers are constants");
}

static void constantOfShape(Node &node) {
  Shape shape = node.ints(0);
  DType dtype = DType::FP32;
  double value = 0;
  if (node.hasAttr("value")) {
    ConstantRef given = node.attrTensor("value");
    if (!given || given->numElements() != 1)
      return node.failed() ? void() : node.fail("`value` must be one number");
    dtype = nativeType(given->dtype());
    value = given->doubleAt(0);
  }
  if (node.failed())
    return;
  if (!checkedNumElements(shape))
    return node.fail("the shape is negative or too large");
  node.out(node.e.filled(dtype, shape, value));
}

static void shapeOf(Node &node) {
  Val x = node.raw(0);
  int64_t begin = node.wideAttr("start", 0);
  int64_t end = node.wideAttr("end", x.rank());
  auto clamped = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + x.rank() : axis, 0, x.rank());
  };
  begin = clamped(begin);
  end = std::max(begin, clamped(end));
  node.out(integers(node.e, llvm::ArrayRef<int64_t>(x.shape()).slice(
                                size_t(begin), size_t(end - begin))));
}

static void size(Node &node) {
  Val x = node.raw(0);
  node.out(node.e.constant(
      node.e.known(integers(node.e, {x.size()}))->reshaped({})));
}

/// From a start to a limit by steps.
static void range(Node &node) {
  double start = node.number(0), limit = node.number(1), step = node.number(2);
  if (node.failed())
    return;
  if (step == 0)
    return node.fail("the step is 0");
  double length = std::max(0.0, std::ceil((limit - start) / step));
  if (!(length <= double(INT32_MAX)))
    return node.fail("the range has too many elements");
  auto count = int64_t(length);
  if (!node.affords(count))
    return;
  std::vector<double> values;
  for (int64_t i = 0; i != count; ++i)
    values.push_back(start + double(i) * step);
  node.out(node.e.constant(
      Constant::fromDoubles({node.raw(0).dtype(), {count}}, values)));
}

static void eyeLike(Node &node) {
  Val x = node.raw(0);
  if (x.rank() != 2)
    return node.fail("the input must be a matrix");
  DType dtype = x.dtype();
  if (node.hasAttr("dtype")) {
    auto element = proto::ElementType(node.attr("dtype", 1));
    std::optional<DType> given = dtypeOf(element);
    if (!given)
      return node.refuse("elements of type " + spelling(element));
    dtype = *given;
  }
  int64_t rows = x.dim(0), columns = x.dim(1), k = node.attr("k", 0);
  if (!node.affords({rows, columns}))
    return;
  std::vector<double> values(size_t(x.size()), 0);
  for (int64_t row = 0; row != rows; ++row)
    if (row + k >= 0 && row + k < columns)
      values[size_t(row * columns + row + k)] = 1;
  node.out(node.e.constant(
      Constant::fromDoubles({nativeType(dtype), {rows, columns}}, values)));
}

/// Of `values` off and on; negative indices count from the end.
static void oneHot(Node &node) {
  Emitter &e = node.e;
  Val indices = e.cast(node.in(0), DType::Int32), values = node.in(2);
  double given = node.number(1);
  if (node.failed() || !values)
    return;
  if (!(given >= 1 && given <= double(INT32_MAX)))
    return node.fail("the depth must be positive");
  auto depth = int64_t(given);
  int64_t axis = node.axis(-1, indices.rank() + 1);
  Val zero = e.scalar(DType::Int32, 0);
  Val isNegative = e.make(ops::Less, {indices, zero});
  Val fromEnd = e.add(indices, e.scalar(DType::Int32, double(depth)));
  Val wrapped = e.select(isNegative, fromEnd, indices);
  Val isOn = e.make(ops::OneHot, {wrapped},
                    {{param::oneHotVectorSize, depth},
                     {param::axis, axis},
                     {param::onValue, Constant::boolean(true)},
                     {param::offValue, Constant::boolean(false)}});
  Val off = e.reshape(e.slice(values, 0, 0, 1), {});
  Val on = e.reshape(e.slice(values, 0, 1, 2), {});
  node.out(e.select(isOn, on, off));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow constantTable[] = {
    {"Constant", constant, 1, "no strings and sparse tensors"},
    {"ConstantOfShape", constantOfShape, 9, "the shape must be known"},
    {"EyeLike", eyeLike, 9},
    {"OneHot", oneHot, 9, "the depth must be known"},
    {"Range", range, 11, "the inputs must be known"},
    {"Shape", shapeOf},
    {"Size", size},
};

llvm::ArrayRef<OpRow> onnx::constantRows() { return constantTable; }
