//===- EmptyValues.cpp - arrays without elements --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Extents of the IR are at least 1, but programs compute shapes by parts that
/// can be empty: the extents before axis 0, a range from 5 to 5, zero rows of
/// padding. Such a value is a constant without elements, which other ops leave
/// out or make another one of.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Ops/Params/Fill.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Scatter.h"
#include <algorithm>
#include <cmath>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

bool FunctionBinder::isEmpty(const ArgumentValue &value) const {
  if (value.name.empty())
    return value.constant && value.constant->numElements() == 0;
  auto symbol = symbols.find(value.name);
  return symbol != symbols.end() && symbol->second.value &&
         symbol->second.value->type.numElements() == 0;
}

bool FunctionBinder::hasEmptyArgument(const Statement &statement) const {
  return any_of(statement.arguments, [this](const Argument &argument) {
    return any_of(argument.values, [this](const ArgumentValue &value) {
      return isEmpty(value);
    });
  });
}

/// Defines the one result as a constant of `type`, which has no elements.
bool FunctionBinder::defineEmpty(const Statement &statement,
                                 const TensorType &type) {
  if (!hasResults(statement, 1) || !areValues(statement))
    return false;
  StringRef name = statement.results[0].name;
  ConstantRef none = Constant::fromDoubles(type, {});
  if (!defineResult(statement, 0, makeConst(none, name, statement.range)))
    return false;
  symbols[name].constant = std::move(none);
  symbols[name].folded = true;
  anyEmpty = true;
  return true;
}

/// The integers of a parameter whose value is known now, or where it is needed,
/// can be; nothing otherwise.
std::optional<SmallVector<int64_t, 4>>
FunctionBinder::knownNumbers(const Statement &statement, StringRef parameter,
                             bool isNeeded) {
  const Argument *argument = statement.argument(parameter);
  SmallVector<int64_t, 4> numbers;
  if (!argument)
    return std::nullopt;
  for (const ArgumentValue &value : argument->values) {
    ConstantRef known = value.constant;
    if (auto symbol = symbols.find(value.name); !value.name.empty() &&
                                                symbol != symbols.end() &&
                                                symbol->second.value) {
      Value *x = symbol->second.value;
      known = isNeeded ? demand(x) : ConstantRef(knownValue(x));
      if (auto op = computedOps.find(x->definingOp()); op != computedOps.end())
        op->second = true;
      symbol->second.folded |= symbol->second.constant != nullptr;
    }
    if (!known || isFloat(known->dtype()) || known->dtype() == DType::String)
      return std::nullopt;
    append_range(numbers, known->asInts());
  }
  return numbers;
}

//===----------------------------------------------------------------------===//
// Ops that make them
//===----------------------------------------------------------------------===//

bool FunctionBinder::bindFill(const Statement &statement) {
  auto shape = knownNumbers(statement, param::shape, /*isNeeded=*/true);
  if (!shape || !is_contained(*shape, 0) || is_contained(*shape, unknownExtent))
    return bindOp(statement);
  const Argument *value = statement.argument(param::fillValue);
  ConstantRef element =
      value ? knownArgument(statement, param::fillValue) : nullptr;
  if (value && !element)
    return bindOp(statement);
  return defineEmpty(statement, {element ? element->dtype() : DType::FP32,
                                 Shape(shape->begin(), shape->end())});
}

bool FunctionBinder::bindRange(const Statement &statement) {
  ConstantRef bounds[3];
  const StringRef names[] = {param::start, param::rangeEnd, param::step};
  for (auto [bound, name] : zip_equal(bounds, names)) {
    bound = statement.argument(name)
                ? knownArgument(statement, name, /*isNeeded=*/true)
                : nullptr;
    if (!bound || bound->numElements() != 1)
      return bindOp(statement);
  }
  double start = bounds[0]->asDouble(), end = bounds[1]->asDouble(),
         step = bounds[2]->asDouble();
  bool isEmpty = step > 0 ? start >= end : step < 0 && start <= end;
  return isEmpty ? defineEmpty(statement, {bounds[0]->dtype(), {0}})
                 : bindOp(statement);
}

/// `tile` by 0, such as one number for each element that a mask chooses.
bool FunctionBinder::bindTile(const Statement &statement) {
  auto reps = knownNumbers(statement, param::reps, /*isNeeded=*/true);
  if (!reps || !is_contained(*reps, 0))
    return bindOp(statement);
  Value *x = operand(statement, param::x);
  if (!x || x->type.rank() != reps->size())
    return x && bindOp(statement);
  TensorType type = x->type;
  for (auto [extent, count] : zip_equal(type.shape, *reps))
    extent = count == 0 ? 0 : extent * std::max<int64_t>(count, 1);
  return defineEmpty(statement, type);
}

//===----------------------------------------------------------------------===//
// Ops that take them
//===----------------------------------------------------------------------===//

/// A `concat` of the operands that have elements.
bool FunctionBinder::joinWithoutEmpty(const Statement &statement) {
  Statement left;
  left.opName = statement.opName;
  left.opRange = statement.opRange;
  left.range = statement.range;
  for (const ResultDeclaration &result : statement.results)
    left.results.push_back({result.name,
                            {result.type.kind, result.type.unknownExtents,
                             result.type.tensor, nullptr, result.type.range},
                            result.range});
  std::optional<TensorType> type;
  auto axis = knownNumbers(statement, param::axis);
  for (const Argument &argument : statement.arguments) {
    Argument &kept = left.arguments.emplace_back(argument);
    if (argument.name != param::values)
      continue;
    for (const ArgumentValue &value : argument.values) {
      if (!isEmpty(value))
        continue;
      TensorType empty = value.constant ? value.constant->type()
                                        : symbols[value.name].value->type;
      int64_t rank = empty.rank();
      if (!axis || axis->size() != 1 || axis->front() < -rank ||
          axis->front() >= rank)
        return bindOp(statement);
      if (type && type->rank() == empty.rank()) {
        size_t along = size_t((axis->front() + rank) % rank);
        type->shape[along] += empty.shape[along];
      } else {
        type = empty;
      }
    }
    erase_if(kept.values,
             [this](const ArgumentValue &value) { return isEmpty(value); });
    if (kept.values.empty())
      return defineEmpty(statement, *type);
  }
  return bindOp(left);
}

/// The shape of an elementwise result, by numpy's rules; nothing when the
/// operands do not fit.
std::optional<Shape>
FunctionBinder::broadcastShape(const OpDef &def, const Statement &statement) {
  Shape shape;
  for (const Argument &argument : statement.arguments) {
    if (def.findValueParam(argument.name) < 0)
      continue;
    Value *value = argument.values.size() == 1
                       ? bindValue(argument.values[0], argument.name)
                       : nullptr;
    if (!value)
      return std::nullopt;
    const Shape &other = value->type.shape;
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), 1);
    for (auto [extent, its] :
         zip(drop_begin(shape, shape.size() - other.size()), other)) {
      if (extent != its && extent != 1 && its != 1)
        return std::nullopt;
      extent = extent == 1 ? its : extent;
    }
  }
  return shape;
}

/// A lookup with no indices, whose result has no elements, or a scatter without
/// updates, which leaves its target as it is.
bool FunctionBinder::lookUpNone(const OpDef &def, const Statement &statement) {
  bool isScatter = &def == &ops::Scatter || &def == &ops::ScatterNd ||
                   &def == &ops::ScatterAlongAxis;
  Value *x = operand(statement, isScatter ? "data" : "x");
  Value *indices = operand(statement, "indices");
  if (!x || !indices || !hasResults(statement, 1))
    return false;
  if (isScatter)
    return defineResult(statement, 0, x);
  ArrayRef<int64_t> from = x->type.shape, at = indices->type.shape;
  size_t first = 0, last = 1;
  if (&def == &ops::GatherNd) {
    last = size_t(std::max<int64_t>(at.back(), 0));
    at = at.drop_back();
  } else {
    auto axis = knownNumbers(statement, param::axis);
    int64_t given = axis && axis->size() == 1 ? axis->front() : 0;
    first = size_t(given < 0 ? given + int64_t(from.size()) : given);
    last = first + 1;
  }
  auto batch = knownNumbers(statement, param::batchDims);
  bool hasBatch = batch && !batch->empty() && batch->front() != 0;
  // `first` is behind `last` for an axis in front of the first.
  if (hasBatch || first > last || last > from.size() || !is_contained(at, 0))
    return bindOp(statement);
  Shape shape(from.begin(), from.begin() + ptrdiff_t(first));
  append_range(shape, at);
  append_range(shape, from.drop_front(last));
  return defineEmpty(statement, {x->type.dtype, shape});
}

/// An op on values of which one has no elements.
bool FunctionBinder::bindWithoutElements(const Statement &statement) {
  for (const Argument &argument : statement.arguments)
    for (const ArgumentValue &value : argument.values)
      if (!value.name.empty() && isEmpty(value))
        symbols[value.name].folded = true;
  if (statement.opName == ops::Concat.name)
    return joinWithoutEmpty(statement);
  const OpDef *def = ops.find(statement.opName);
  if (!def || !def->has(trait::Mil) || statement.results.size() != 1)
    return bindOp(statement);
  const Argument *indices = statement.argument("indices");
  bool findsNone =
      indices && indices->values.size() == 1 && isEmpty(indices->values[0]);
  if (findsNone &&
      (def == &ops::Gather || def == &ops::GatherNd || def == &ops::Scatter ||
       def == &ops::ScatterNd || def == &ops::ScatterAlongAxis))
    return lookUpNone(*def, statement);
  const ParsedType &declared = statement.results[0].type;
  bool isNone = declared.kind == ParsedType::Tensor &&
                !declared.unknownExtents && declared.tensor.numElements() == 0;
  if (isNone && (def->has(trait::Elementwise) ||
                 def->has(trait::DataMovement) || def == &ops::Gather))
    return defineEmpty(statement, declared.tensor);
  if (declared.kind == ParsedType::Tensor && def->has(trait::Elementwise))
    if (std::optional<Shape> shape = broadcastShape(*def, statement))
      return defineEmpty(statement, {declared.tensor.dtype, *shape});
  // The extents of a shape, and numbers made of them.
  const Argument *x = statement.argument("x");
  bool isOwn = x && x->values.size() == 1 && isEmpty(x->values[0]);
  if (!isOwn || !areValues(statement))
    return bindOp(statement);
  const ArgumentValue &value = x->values[0];
  const TensorType &type =
      value.constant ? value.constant->type() : symbols[value.name].value->type;
  auto define = [&](const TensorType &result, ArrayRef<double> numbers) {
    StringRef name = statement.results[0].name;
    ConstantRef known = Constant::fromDoubles(result, numbers);
    if (!defineResult(statement, 0, makeConst(known, name, statement.range)))
      return false;
    symbols[name].constant = std::move(known);
    return true;
  };
  if (def == &ops::ShapeOf)
    return define({DType::Int32, {int64_t(type.rank())}},
                  std::vector<double>(type.shape.begin(), type.shape.end()));
  bool isSum = def == &ops::ReduceSum, isProduct = def == &ops::ReduceProd;
  bool isNumber =
      !declared.unknownExtents && declared.tensor.numElements() == 1;
  if ((isSum || isProduct) && isNumber)
    return define(declared.tensor, {isProduct ? 1.0 : 0.0});
  return bindOp(statement);
}
