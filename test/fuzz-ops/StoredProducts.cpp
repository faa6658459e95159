//===- StoredProducts.cpp - products with weights as they are stored ------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The CPU backend reads constant weights in the form that they are stored in.
/// Draws all forms, for each op that does, with sizes around those of vectors,
/// blocks and threads.
///
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/ConstexprLookup.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Matmul.h"

using namespace anec;

/// A number of blocks that `extent` can be divided into.
int64_t RandomGraph::divisor(int64_t extent) {
  if (chance(0.4))
    return 1;
  llvm::SmallVector<int64_t, 16> divisors;
  for (int64_t by = 1; by <= extent; ++by)
    if (extent % by == 0)
      divisors.push_back(by);
  return divisors[number(0, int64_t(divisors.size()) - 1)];
}

Value *RandomGraph::stored(const TensorType &type) {
  std::vector<double> elements(type.numElements());
  std::normal_distribution<double> normal;
  unsigned bits = bitWidth(type.dtype);
  bool isSigned = type.dtype == DType::Int8 || type.dtype == DType::Int4;
  int64_t low = isSigned ? -(int64_t(1) << (bits - 1)) : 0;
  for (double &element : elements)
    element = isFloat(type.dtype)
                  ? normal(random)
                  : double(number(low, low + (int64_t(1) << bits) - 1));
  return builder.build(ops::Const, {},
                       {{param::val, Constant::fromDoubles(type, elements)}},
                       "c");
}

Value *RandomGraph::storedBlockwise(const Shape &shape) {
  DType dtype = oneOf({DType::Int8, DType::UInt8, DType::Int4, DType::UInt4});
  Shape blocks;
  for (int64_t extent : shape)
    blocks.push_back(divisor(extent));
  Value *offset = nullptr;
  if (chance(0.5))
    offset = stored({chance(0.5) ? dtype : floatType, blocks});
  return builder.build(
      ops::ConstexprBlockwiseShiftScale,
      {stored({dtype, shape}), stored({floatType, blocks}), offset}, {}, "w");
}

Value *RandomGraph::storedAffine(const Shape &shape) {
  DType dtype = oneOf({DType::Int8, DType::UInt8});
  int64_t axis = number(0, int64_t(shape.size()) - 1);
  auto vector = [&]() { return chance(0.5) ? Shape{shape[axis]} : Shape(); };
  return builder.build(
      ops::ConstexprAffineDequantize,
      {stored({dtype, shape}), stored({dtype, vector()}),
       stored({floatType, vector()})},
      {{param::axis, axis - (chance(0.3) ? int64_t(shape.size()) : 0)}}, "w");
}

Value *RandomGraph::storedTable(const Shape &shape) {
  if (chance(0.3)) {
    int64_t bits = oneOf({1, 2, 4, 6, 8});
    int64_t count = TensorType(DType::FP32, shape).numElements();
    std::vector<double> extents(shape.begin(), shape.end());
    return builder.build(
        ops::ConstexprLutToDense,
        {stored({DType::UInt8, {(count * bits + 7) / 8}}),
         stored({floatType, {int64_t(1) << bits}})},
        {{param::shape,
          Constant::fromDoubles({DType::UInt32, {int64_t(shape.size())}},
                                extents)}},
        "w");
  }
  DType dtype = oneOf({DType::UInt1, DType::UInt2, DType::UInt3, DType::UInt4,
                       DType::UInt6, DType::UInt8});
  Shape tables;
  int64_t most = 32;
  for (int64_t extent : shape) {
    tables.push_back(chance(0.5) ? 1 : divisor(extent));
    most /= tables.back();
    if (most == 0)
      tables.back() = most = 1;
  }
  tables.append({int64_t(1) << bitWidth(dtype), 1});
  return builder.build(ops::ConstexprLutToDense,
                       {stored({dtype, shape}), stored({floatType, tables})},
                       {}, "w");
}

Value *RandomGraph::storedWeight(const Shape &shape) {
  switch (number(0, 4)) {
  case 0:
    return storedBlockwise(shape);
  case 1:
    return storedAffine(shape);
  case 2:
    return storedTable(shape);
  case 3:
    if (floatType == DType::FP32)
      return builder.build(ops::ConstexprCast, {stored({DType::FP16, shape})},
                           {{param::outputDtype, DType::FP32}}, "w");
    [[fallthrough]];
  default:
    return stored({floatType, shape});
  }
}

void RandomGraph::addStoredProduct() {
  auto extent = [&](int64_t most) {
    return chance(0.4) ? 16 * number(1, most / 16) : number(1, most);
  };
  int64_t outputs = number(1, 40), inputs = extent(chance(0.2) ? 400 : 80);
  int64_t columns = chance(0.8) ? number(1, 17) : number(18, 70);
  auto factor = [&](Shape shape) -> Value * {
    TensorType type(floatType, shape);
    Value *value = function.addParameter(
        type, "p" + std::to_string(function.parameters().size()));
    values.push_back(value);
    return value;
  };
  auto constant = [&](Shape shape) { return storedWeight(shape); };
  auto exchanged = [&](int64_t first, int64_t second, bool exchange) {
    return exchange ? Shape{second, first} : Shape{first, second};
  };
  bool first = chance(0.5), second = chance(0.5);
  Value *bias = chance(0.5) ? stored({floatType, {outputs}}) : nullptr;
  Value *result = nullptr;
  switch (number(0, 4)) {
  case 0: {
    int64_t images = oneOf<int64_t>({1, 1, 2});
    Value *x = factor({images, inputs, 1, columns});
    result =
        builder.build(ops::Conv, {x, constant({outputs, inputs, 1, 1}), bias},
                      {{param::strides, {1, 1}},
                       {param::padType, PadType::Valid},
                       {param::pad, {0, 0, 0, 0}},
                       {param::dilations, {1, 1}},
                       {param::groups, 1}});
    break;
  }
  case 1:
    result = builder.build(ops::Linear, {factor({columns, inputs}),
                                         constant({outputs, inputs}), bias});
    break;
  case 2: {
    Shape x = exchanged(columns, inputs, first);
    if (chance(0.3))
      x.insert(x.begin(), number(1, 3));
    result = builder.build(
        ops::Matmul, {factor(x), constant(exchanged(inputs, outputs, second))},
        {{param::transposeX, first}, {param::transposeY, second}});
    break;
  }
  case 3: {
    Shape y = exchanged(inputs, columns, second);
    if (chance(0.3))
      y.insert(y.begin(), number(1, 3));
    result = builder.build(
        ops::Matmul, {constant(exchanged(outputs, inputs, first)), factor(y)},
        {{param::transposeX, first}, {param::transposeY, second}});
    break;
  }
  default: {
    Value *indices = function.addParameter(
        {DType::Int32, {columns}},
        "p" + std::to_string(function.parameters().size()));
    result = builder.build(ops::Gather, {constant({outputs, inputs}), indices},
                           {{param::axis, 0}});
    break;
  }
  }
  if (result)
    values.push_back(result);
}
