//===- ControlFlow.cpp - branches and loops as straight lines -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `cond` computes both blocks and selects; a loop whose number of iterations
/// depends only on constants and shapes is unrolled.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/Diags.h"
#include "anec/MIL/Diags.h"
#include "anec/MIL/FunctionBinder.h"
#include "anec/Ops/Diags.h"
#include "anec/Ops/Ops.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// Unrolled loops get slow to compile beyond this number of statements.
static constexpr size_t mostUnrolled = 200000;
static constexpr size_t mostIterations = 10000;

/// Whether a value of a type can be a condition. Apple's converter counts the
/// iterations of a loop in arrays of one element.
static bool isOneBool(const TensorType &type) {
  return type.dtype == DType::Bool && type.numElements() == 1;
}

/// Whether there are two blocks, the blocks end in results, and each has
/// `inputs` inputs.
bool FunctionBinder::hasBlocks(const Statement &statement, size_t inputs) {
  if (statement.blocks.size() != 2) {
    diags.report(statement.opRange, diag::BlockCount, statement.opName, 2,
                 statement.blocks.size());
    return false;
  }
  for (const Block &block : statement.blocks)
    if (block.inputs.size() != inputs) {
      diags.report(statement.opRange, diag::BlockInputs, statement.opName,
                   inputs, block.inputs.size());
      return false;
    }
  return true;
}

/// Builds a block's ops at the end of the function. Its names are not known
/// afterwards.
bool FunctionBinder::bindBlock(const Block &block, ArrayRef<BlockResult> inputs,
                               SourceRange range, BlockResults &results) {
  if (depth == maxNesting) {
    diags.report(range, diag::NestedTooDeeply, maxNesting);
    return false;
  }
  ++depth;
  size_t before = symbols.size(), errors = diags.errorCount();
  for (auto [declared, input] : zip_equal(block.inputs, inputs)) {
    Symbol &symbol = define(declared.name, declared.range, input.value);
    symbol.isList = input.isList;
    symbol.grows = input.grows;
    const Op *op = input.value ? input.value->definingOp() : nullptr;
    if (op && op->is(ops::Const))
      symbol.constant = ConstantRef(op->constant(param::val));
  }
  bool read = block.bindStatements();
  for (const ArgumentValue &result : block.results) {
    Symbol *symbol = lookup(result.name, result.range);
    BlockResult &found = results.emplace_back();
    if (symbol)
      found = {symbol->value, symbol->isList, symbol->grows};
  }
  for (auto &[name, symbol] : drop_begin(symbols, before))
    if (symbol.folded && symbol.value)
      computedOps[symbol.value->definingOp()] = true;
  while (symbols.size() > before)
    symbols.pop_back();
  --depth;
  return read && diags.errorCount() == errors;
}

/// Defines the results of a statement as those of a block.
bool FunctionBinder::defineChosen(const Statement &statement,
                                  const BlockResults &results) {
  if (!hasResults(statement, results.size()))
    return false;
  for (auto [declared, result] : zip_equal(statement.results, results)) {
    unsigned index = &declared - statement.results.begin();
    if (!result.value)
      return false;
    bool isList = declared.type.kind == ParsedType::List;
    if (isList != result.isList)
      return unsupported(declared.type.range, "a list as another value");
    if (!isList && !checkResult(statement, index, *result.value))
      return false;
    Symbol &symbol = define(declared.name, declared.range, result.value);
    symbol.isList = result.isList;
    symbol.grows = result.grows;
    const Op *op = result.value->definingOp();
    if (op && op->is(ops::Const))
      symbol.constant = ConstantRef(op->constant(param::val));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// cond
//===----------------------------------------------------------------------===//

bool FunctionBinder::bindCond(const Statement &statement) {
  if (!hasBlocks(statement, 0))
    return false;
  Value *predicate = operand(statement, "pred");
  if (!predicate)
    return false;
  BlockResults chosen;
  const Constant *known = knownValue(predicate);
  if (!(predicate->type == TensorType(DType::Bool)) &&
      !(known && isOneBool(predicate->type)))
    return unsupported(statement.range, "a `pred` that is no scalar `bool`");
  if (known)
    return bindBlock(statement.blocks[known->asBool() ? 0 : 1], {},
                     statement.range, chosen) &&
           defineChosen(statement, chosen);

  BlockResults others;
  ++chosenBlocks;
  bool bound = bindBlock(statement.blocks[0], {}, statement.range, chosen) &&
               bindBlock(statement.blocks[1], {}, statement.range, others);
  --chosenBlocks;
  if (!bound)
    return false;
  if (!hasResults(statement, chosen.size()) ||
      !hasResults(statement, others.size()))
    return false;
  for (auto [index, result] : enumerate(chosen)) {
    const BlockResult &other = others[index];
    if (!result.value || !other.value)
      return false;
    if (!(result.value->type == other.value->type))
      return refuse(statement,
                    "the shapes of its results depend on the inputs");
    if (result.value == other.value)
      continue;
    Op *select =
        builder->create(ops::Select, {predicate, result.value, other.value}, {},
                        statement.results[index].name);
    if (!select)
      return false;
    result.value = select->result();
    result.grows |= other.grows;
  }
  return defineChosen(statement, chosen);
}

//===----------------------------------------------------------------------===//
// while_loop
//===----------------------------------------------------------------------===//

bool FunctionBinder::bindWhileLoop(const Statement &statement) {
  const Argument *variables = statement.argument("loop_vars");
  if (!variables) {
    diags.report(statement.range, diag::MissingConstant, statement.opName,
                 "loop_vars");
    return false;
  }
  if (!hasBlocks(statement, variables->values.size()))
    return false;
  BlockResults values;
  for (const ArgumentValue &variable : variables->values) {
    BlockResult &value = values.emplace_back();
    Symbol *symbol =
        variable.name.empty() ? nullptr : lookup(variable.name, variable.range);
    if (symbol && symbol->isList)
      value = {symbol->value, true, symbol->grows};
    else
      value.value = bindValue(variable, "loop_vars");
    if (!value.value)
      return false;
  }
  const Op *last =
      function->body().empty() ? nullptr : &function->body().back();
  for (size_t iteration = 0;; ++iteration) {
    BlockResults goesOn, next;
    if (!bindBlock(statement.blocks[0], values, statement.range, goesOn))
      return false;
    const Constant *known = goesOn.size() == 1 && goesOn[0].value
                                ? knownValue(goesOn[0].value)
                                : nullptr;
    if (!known || !isOneBool(known->type()))
      return refuse(statement,
                    "the number of its iterations depends on the inputs");
    if (!known->asBool())
      break;
    if (iteration == mostIterations || ofBlocks > mostUnrolled)
      return refuse(statement, "it has too many iterations to be unrolled");
    if (!bindBlock(statement.blocks[1], values, statement.range, next))
      return false;
    if (next.size() != values.size()) {
      diags.report(statement.opRange, diag::ResultCount, statement.opName,
                   values.size(), next.size());
      return false;
    }
    values = std::move(next);
  }
  // What only counts the iterations is not needed any more.
  for (const Op &op : reverse(function->body())) {
    if (&op == last)
      break;
    if (auto computed = computedOps.find(&op); computed != computedOps.end())
      computed->second = true;
  }
  return defineChosen(statement, values);
}
