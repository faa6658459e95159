//===- KnownArrays.cpp - constants that passes compute with ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KnownArrays.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include <cmath>
#include <limits>

using namespace anec;

Op *anec::definedBy(const Value *value, const OpDef &def) {
  Op *op = value ? value->definingOp() : nullptr;
  return op && op->is(def) ? op : nullptr;
}

std::optional<RefTensor> anec::knownArray(const Value *value) {
  const Op *op = definedBy(value, ops::Const);
  if (!op || !isFloat(value->type.dtype) || value->type.numElements() == 0)
    return std::nullopt;
  return RefTensor{value->type, op->constant(param::val)->asDoubles()};
}

std::optional<double> anec::knownNumber(const Value *value) {
  const Op *op = definedBy(value, ops::Const);
  if (!op || !isFloat(value->type.dtype) || value->type.numElements() != 1)
    return std::nullopt;
  return op->constant(param::val)->doubleAt(0);
}

RefTensor anec::scalarArray(double value) {
  return {TensorType(DType::FP32), {value}};
}

RefTensor anec::computed(const OpDef &def, const RefTensor &lhs,
                         const RefTensor &rhs) {
  std::optional<Shape> shape = broadcastShapes(lhs.type.shape, rhs.type.shape);
  assert(shape && "the arrays do not broadcast");
  TensorType type(DType::FP32, *shape);
  RefTensor result{type, std::vector<double>(size_t(type.numElements()))};
  const RefTensor *in[] = {&lhs, &rhs};
  EvalContext ctx{def, {}, in, llvm::MutableArrayRef(result)};
  def.eval(ctx);
  return result;
}

bool anec::isHeldByFloat(const RefTensor &array) {
  return llvm::all_of(array.data, [](double element) {
    double magnitude = std::abs(element);
    return element == 0 || (magnitude <= std::numeric_limits<float>::max() &&
                            magnitude >= std::numeric_limits<float>::min());
  });
}

Value *anec::buildArray(Builder &builder, const RefTensor &array,
                        llvm::StringRef name) {
  TensorType type(DType::FP32, array.type.shape);
  return builder.build(ops::Const, {},
                       {{param::val, Constant::fromDoubles(type, array.data)}},
                       name);
}

std::optional<std::vector<double>>
anec::alongAxis(const RefTensor &array, const TensorType &type, unsigned axis) {
  size_t extent = size_t(type.shape[axis]);
  if (array.data.size() == 1)
    return std::vector<double>(extent, array.data.front());
  // Axes are aligned at the last one.
  size_t own = array.type.rank() + axis;
  if (own < type.rank() || array.data.size() != extent ||
      array.type.shape[own - type.rank()] != int64_t(extent))
    return std::nullopt;
  return array.data;
}
