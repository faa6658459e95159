//===- Lists.cpp - lists of tensors as tensors ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A list is the tensor of its elements along axis 0, which each op on the list
/// replaces by another. Elements that were never written are zeros.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Scatter.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// Zeros that use almost no memory: one element, repeated.
static Value *makeZeros(Builder &builder, const TensorType &type,
                        StringRef name) {
  SmallVector<int64_t, 4> extents(type.shape.begin(), type.shape.end());
  ConstantRef zero = Constant::fromDoubles(TensorType(type.dtype), {0.0});
  Op *op = builder.create(
      ops::Fill, {},
      {Attr(param::shape, extents), Attr(param::fillValue, zero)}, name);
  return op ? op->result() : nullptr;
}

/// The list that a statement is about; null after an error.
Symbol *FunctionBinder::list(const Statement &statement) {
  const ArgumentValue *value = single(statement, "ls");
  if (!value)
    return nullptr;
  Symbol *symbol =
      value->name.empty() ? nullptr : lookup(value->name, value->range);
  if (symbol && symbol->isList)
    return symbol->value ? symbol : nullptr;
  if (value->name.empty() || (symbol && symbol->value))
    unsupported(value->range, "a value that is not a list here");
  return nullptr;
}

Symbol &FunctionBinder::defineList(const Statement &statement, Value *value,
                                   bool grows) {
  const ResultDeclaration &result = statement.results[0];
  Symbol &symbol = define(result.name, result.range, value);
  symbol.isList = true;
  symbol.grows = grows;
  return symbol;
}

bool FunctionBinder::bindMakeList(const Statement &statement) {
  if (!hasResults(statement, 1))
    return false;
  const ParsedType &declared = statement.results[0].type;
  TensorType type = declared.tensor;
  if (declared.kind != ParsedType::List || type.shape.empty())
    return unsupported(declared.range, "a list of anything but tensors");
  bool grows = true;
  if (statement.argument("dynamic_length")) {
    ConstantRef given = knownArgument(statement, "dynamic_length");
    if (!given || !(given->type() == TensorType(DType::Bool)))
      return refuse(statement, "`dynamic_length` is not known");
    grows = given->asBool();
  }
  int64_t length = 1;
  if (statement.argument("init_length")) {
    ConstantRef given = knownArgument(statement, "init_length");
    if (!given || !isInteger(given->dtype()) || given->numElements() != 1)
      return refuse(statement, "`init_length` is not known");
    length = given->intAt(0);
  }
  if (type.shape[0] == unknownExtent)
    type.shape[0] = length;
  if (is_contained(type.shape, unknownExtent))
    return refuse(statement, "its elements have unknown extents");
  if (type.shape[0] != length)
    return refuse(statement, "its declared length is not `init_length`");
  if (!checkedNumElements(type.shape)) {
    diags.report(declared.range, diag::TypeTooLarge, type.str());
    return false;
  }
  Value *zeros = makeZeros(*builder, type, statement.results[0].name);
  if (!zeros)
    return false;
  defineList(statement, zeros, grows);
  return true;
}

bool FunctionBinder::bindListRead(const Statement &statement) {
  Symbol *from = list(statement);
  if (!from || !hasResults(statement, 1) || !areValues(statement))
    return false;
  Value *ls = from->value;
  Value *index = operand(statement, "index");
  if (!index)
    return false;
  Op *op = builder->create(ops::Gather, {ls, index}, {Attr(param::axis, 0)},
                           statement.results[0].name);
  if (!op || !defineResult(statement, 0, op->result()))
    return false;
  computeValues(*op);
  return true;
}

bool FunctionBinder::bindListGather(const Statement &statement) {
  Symbol *from = list(statement);
  if (!from || !hasResults(statement, 1) || !areValues(statement))
    return false;
  Value *ls = from->value;
  Value *indices = operand(statement, "indices");
  if (!indices)
    return false;
  Op *op = builder->create(ops::Gather, {ls, indices}, {Attr(param::axis, 0)},
                           statement.results[0].name);
  return op && defineResult(statement, 0, op->result());
}

/// The list with zeros after its elements.
Value *FunctionBinder::extendList(Value *list, int64_t length) {
  TensorType more = list->type;
  more.shape[0] = length - list->type.shape[0];
  Value *zeros = makeZeros(*builder, more, list->name);
  Op *op = zeros ? builder->create(
                       ops::Concat, {list, zeros},
                       {Attr(param::axis, 0), Attr(param::interleave, false)},
                       list->name)
                 : nullptr;
  return op ? op->result() : nullptr;
}

bool FunctionBinder::bindListWrite(const Statement &statement) {
  Symbol *into = list(statement);
  if (!into || !hasResults(statement, 1))
    return false;
  Value *ls = into->value;
  bool grows = into->grows;
  Value *index = operand(statement, "index");
  Value *value = operand(statement, "value");
  if (!index || !value)
    return false;
  const Constant *known = knownValue(index);
  bool isIndex = isInteger(index->type.dtype) && index->type.numElements() == 1;
  if (grows && (!known || !isIndex))
    return refuse(statement, "whether the list grows depends on the inputs");
  constexpr int64_t longest = 1 << 20;
  if (known && isIndex && grows && known->intAt(0) >= ls->type.shape[0]) {
    if (known->intAt(0) >= longest)
      return refuse(statement, "the list is too long");
    ls = extendList(ls, known->intAt(0) + 1);
  }
  Op *at =
      builder->create(ops::Reshape, {index}, {Attr(param::shape, {int64_t(1)})},
                      statement.results[0].name.str() + "_index");
  Op *row =
      builder->create(ops::ExpandDims, {value}, {Attr(param::axes, Shape{0})},
                      statement.results[0].name.str() + "_value");
  Op *op =
      ls && at && row
          ? builder->create(ops::Scatter, {ls, at->result(), row->result()},
                            {Attr(param::axis, 0),
                             Attr(param::scatterMode, ScatterMode::Update)},
                            statement.results[0].name)
          : nullptr;
  if (!op)
    return false;
  defineList(statement, op->result(), grows);
  return true;
}

bool FunctionBinder::bindListScatter(const Statement &statement) {
  Symbol *into = list(statement);
  if (!into || !hasResults(statement, 1))
    return false;
  Value *ls = into->value;
  bool grows = into->grows;
  Value *indices = operand(statement, "indices");
  Value *value = operand(statement, "value");
  if (!indices || !value)
    return false;
  if (grows)
    return refuse(statement, "whether the list grows depends on the indices");
  Op *op = builder->create(
      ops::Scatter, {ls, indices, value},
      {Attr(param::axis, 0), Attr(param::scatterMode, ScatterMode::Update)},
      statement.results[0].name);
  if (!op)
    return false;
  defineList(statement, op->result(), grows);
  return true;
}

bool FunctionBinder::bindListLength(const Statement &statement) {
  Symbol *of = list(statement);
  if (!of || !hasResults(statement, 1) || !areValues(statement))
    return false;
  ConstantRef length = Constant::int32(of->value->type.shape[0]);
  Value *value = makeConst(length, statement.results[0].name, statement.range);
  if (!defineResult(statement, 0, value))
    return false;
  symbols[statement.results[0].name].constant = std::move(length);
  return true;
}
