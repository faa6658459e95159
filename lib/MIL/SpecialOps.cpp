//===- SpecialOps.cpp - ops of MIL that become others ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A function of the IR is a straight line of ops on tensors. Ops on lists,
/// labels and blocks become such ops where that is possible.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/Diags.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Ops/Diags.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

FunctionBinder::Special FunctionBinder::findSpecial(StringRef op) {
  return StringSwitch<Special>(op)
      .Case("classify", &FunctionBinder::bindClassify)
      .Case("cond", &FunctionBinder::bindCond)
      .Case("constexpr_sparse_to_dense", &FunctionBinder::bindSparseToDense)
      .Case("fill", &FunctionBinder::bindFill)
      .Case("list_gather", &FunctionBinder::bindListGather)
      .Case("list_length", &FunctionBinder::bindListLength)
      .Case("list_read", &FunctionBinder::bindListRead)
      .Case("list_scatter", &FunctionBinder::bindListScatter)
      .Case("list_write", &FunctionBinder::bindListWrite)
      .Case("make_list", &FunctionBinder::bindMakeList)
      .Case("non_zero", &FunctionBinder::bindNonZero)
      .Case("range_1d", &FunctionBinder::bindRange)
      .Case("reshape_like", &FunctionBinder::bindReshapeLike)
      .Case("slice_by_index", &FunctionBinder::bindSliceByIndex)
      .Case("slice_by_size", &FunctionBinder::bindSliceBySize)
      .Case("tile", &FunctionBinder::bindTile)
      .Case("while_loop", &FunctionBinder::bindWhileLoop)
      .Default(nullptr);
}

bool FunctionBinder::refuse(const Statement &statement, StringRef reason) {
  diags.report(statement.opRange, diag::UnsupportedOp, statement.opName,
               reason);
  return false;
}

/// The one value of a parameter; null, with the reason reported, when there is
/// none.
const ArgumentValue *FunctionBinder::single(const Statement &statement,
                                            StringRef parameter) {
  const Argument *argument = statement.argument(parameter);
  if (!argument) {
    diags.report(statement.range, diag::MissingConstant, statement.opName,
                 parameter);
    return nullptr;
  }
  if (argument->values.size() != 1) {
    diags.report(argument->range, diag::SeveralValues, statement.opName,
                 parameter, argument->values.size());
    return nullptr;
  }
  return &argument->values[0];
}

/// The same as a tensor.
Value *FunctionBinder::operand(const Statement &statement,
                               StringRef parameter) {
  const ArgumentValue *value = single(statement, parameter);
  SmallString<64> name(statement.opName);
  name += '_';
  name += parameter;
  return value ? bindValue(*value, name) : nullptr;
}

/// The value of a parameter that is known now, or where it is needed, can be;
/// null otherwise.
ConstantRef FunctionBinder::knownArgument(const Statement &statement,
                                          StringRef parameter, bool isNeeded) {
  const ArgumentValue *value = single(statement, parameter);
  if (!value || value->name.empty())
    return value ? value->constant : nullptr;
  Symbol *symbol = lookup(value->name, value->range);
  if (!symbol || !symbol->value)
    return nullptr;
  symbol->folded |= symbol->constant != nullptr;
  if (!isNeeded)
    return ConstantRef(knownValue(symbol->value));
  ConstantRef known = demand(symbol->value);
  if (auto op = computedOps.find(symbol->value->definingOp());
      op != computedOps.end())
    op->second = true;
  return known;
}

bool FunctionBinder::hasResults(const Statement &statement, size_t count) {
  if (statement.results.size() == count)
    return true;
  diags.report(statement.range, diag::ResultCount, statement.opName, count,
               statement.results.size());
  return false;
}

/// Defines a result that must have the declared type; returns false when it is
/// another, or null after an error.
bool FunctionBinder::defineResult(const Statement &statement, unsigned index,
                                  Value *value) {
  if (!value || !checkResult(statement, index, *value))
    return false;
  const ResultDeclaration &result = statement.results[index];
  define(result.name, result.range, value);
  return true;
}
