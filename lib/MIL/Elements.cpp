//===- Elements.cpp - shapes that follow from elements --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The number of elements of a tensor that says how many others are not zero.
/// The IR has only known shapes of at least one element.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/Diags.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Params/Quantization.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// The coordinates of the elements that are not zero, a row each.
static std::vector<double> coordinates(const Constant &x) {
  Shape strides = rowMajorStrides(x.type().shape);
  std::vector<double> rows;
  for (int64_t i = 0; i != x.numElements(); ++i)
    if (x.doubleAt(i) != 0)
      for (auto [extent, stride] : zip_equal(x.type().shape, strides))
        rows.push_back(double(i / stride % extent));
  return rows;
}

/// `non_zero(x)` of what is known is a constant.
bool FunctionBinder::bindNonZero(const Statement &statement) {
  if (!hasResults(statement, 1) || !areValues(statement))
    return false;
  Value *x = operand(statement, "x");
  if (!x)
    return false;
  ConstantRef known = demand(x);
  if (!known && isDecidedInLoop(x))
    return false;
  if (!known) {
    const auto *row = find_if(ops.unsupported(), [](const UnsupportedOp &op) {
      return op.name == "non_zero";
    });
    explainUnknown(diags.report(statement.opRange, diag::UnsupportedOp,
                                statement.opName, row->reason),
                   statement.opRange, x);
    return false;
  }
  std::vector<double> rows = coordinates(*known);
  int64_t rank = x->type.rank();
  if (rows.empty())
    return defineEmpty(statement, {DType::Int32, {0, rank}});
  TensorType type(DType::Int32, {int64_t(rows.size()) / rank, rank});
  ConstantRef result = Constant::fromDoubles(type, rows);
  StringRef name = statement.results[0].name;
  if (!defineResult(statement, 0, makeConst(result, name, statement.range)))
    return false;
  symbols[name].constant = std::move(result);
  return true;
}

/// A weight whose elements are all zero is written with an array without
/// elements, and is a constant of zeros.
bool FunctionBinder::bindSparseToDense(const Statement &statement) {
  auto given = [&](StringRef parameter) -> ConstantRef {
    for (ArrayRef<Argument> list :
         {ArrayRef(statement.arguments), ArrayRef(statement.attributes)})
      for (const Argument &argument : list) {
        if (argument.name != parameter || argument.values.size() != 1)
          continue;
        const ArgumentValue &value = argument.values[0];
        auto symbol = symbols.find(value.name);
        return symbol == symbols.end() ? value.constant
                                       : symbol->second.constant;
      }
    return nullptr;
  };
  ConstantRef data = given(param::nonzeroData), mask = given(param::mask);
  bool isEmpty = data && mask && data->type().shape == Shape{0};
  if (!isEmpty || statement.results.size() != 1)
    return bindOp(statement);
  ConstantRef written = given(param::shape);
  TensorType type(data->dtype(),
                  written ? written->asInts() : mask->type().shape);
  int64_t bits = mask->numElements() * (written ? 8 : 1);
  std::optional<int64_t> count = checkedNumElements(type.shape);
  for (int64_t i = 0; i != mask->numElements(); ++i)
    if (mask->doubleAt(i) != 0)
      return bindOp(statement);
  if (!areValues(statement) || !count || *count < 1 || *count > bits)
    return bindOp(statement);
  ConstantRef zeros = Constant::fromDoubles(
      type, std::vector<double>(static_cast<size_t>(*count)));
  StringRef name = statement.results[0].name;
  if (!defineResult(statement, 0, makeConst(zeros, name, statement.range)))
    return false;
  symbols[name].constant = std::move(zeros);
  return true;
}
