//===- ControlFlow.cpp - branches and loops as straight lines -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A `cond` whose condition is known becomes the ops of one block, and a loop
/// whose number of iterations depends only on constants and shapes is unrolled.
/// What values decide is an op with blocks: their ops are built like all
/// others, and then moved into it.
///
//===----------------------------------------------------------------------===//

#include "LoopTurns.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Ops/Control.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Control.h"
#include <utility>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

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
/// afterwards; those of its inputs hide others, as coremltools writes them.
bool FunctionBinder::bindBlock(const Block &block, ArrayRef<BlockResult> inputs,
                               SourceRange range, BlockResults &results) {
  if (depth == maxNesting) {
    diags.report(range, diag::NestedTooDeeply, maxNesting);
    return false;
  }
  ++depth;
  size_t before = symbols.size(), errors = diags.errorCount();
  SmallVector<std::pair<size_t, Symbol>, 2> hidden;
  for (auto [declared, input] : zip_equal(block.inputs, inputs)) {
    auto [found, isNew] = symbols.insert({declared.name, Symbol()});
    size_t index = size_t(found - symbols.begin());
    if (!isNew && index >= before)
      diags.report(declared.range, diag::NameTaken, declared.name)
          .note(found->second.range, diag::PreviousDefinition, declared.name);
    else if (!isNew)
      hidden.push_back({index, found->second});
    Symbol &symbol = found->second;
    symbol = Symbol();
    symbol.range = declared.range;
    symbol.value = input.value;
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
  auto leave = [&](const Symbol &symbol) {
    if (symbol.folded && symbol.value && symbol.value->definingOp())
      computedOps[symbol.value->definingOp()] = true;
  };
  for (const auto &[name, symbol] : drop_begin(symbols, before))
    leave(symbol);
  while (symbols.size() > before)
    symbols.pop_back();
  for (auto &[index, symbol] : reverse(hidden)) {
    leave(symbols.begin()[ptrdiff_t(index)].second);
    symbols.begin()[ptrdiff_t(index)].second = std::move(symbol);
  }
  --depth;
  return read && diags.errorCount() == errors;
}

/// Whether the results of a block are values.
static bool areKnown(ArrayRef<Value *> values) {
  return all_of(values, [](const Value *value) { return value != nullptr; });
}

template <typename Results>
static SmallVector<Value *, 4> valuesOf(const Results &results) {
  SmallVector<Value *, 4> values;
  for (const auto &result : results)
    values.push_back(result.value);
  return values;
}

/// Defines the results of a statement as those of a block.
bool FunctionBinder::defineChosen(const Statement &statement,
                                  const BlockResults &results) {
  if (!hasResults(statement, results.size()) || !areKnown(valuesOf(results)))
    return false;
  for (auto [declared, result] : zip_equal(statement.results, results)) {
    unsigned index = &declared - statement.results.begin();
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
// Blocks that values decide
//===----------------------------------------------------------------------===//

/// Forgets what is known about an op that is erased, and about those in its
/// blocks: others may be created at their addresses.
void FunctionBinder::forget(const Op &op) {
  computedOps.erase(&op);
  for (const Value *result : op.resultValues())
    computedValues.erase(result);
  for (const auto &block : blocksOf(op))
    for (const Op &inner : block->body())
      forget(inner);
}

Op *FunctionBinder::lastOp() {
  return function->body().empty() ? nullptr : &function->body().back();
}

/// Erases the ops after `last`, which nothing uses.
void FunctionBinder::eraseAfter(const Op *last) {
  while (lastOp() != last) {
    forget(*lastOp());
    lastOp()->erase();
  }
}

/// Creates the op of a statement, with blocks that take `operands`.
Op *FunctionBinder::makeWithBlocks(const OpDef &def, const Statement &statement,
                                   BlockMaker &blocks,
                                   ArrayRef<Value *> operands,
                                   ConstantRef carried,
                                   ArrayRef<StringRef> names) {
  if (blocks.hasMemory()) {
    refuse(statement, "a block that is not always run uses a state");
    return nullptr;
  }
  SmallVector<ConstantRef, 2> slots(def.numConstantParams());
  slots[blocksSlot(def)] = blocks.finish();
  if (carried)
    slots[def.constantSlot(param::carried)] = carried;
  builder->setRange(statement.range);
  return builder->createWithSlots(def, operands, slots, names);
}

//===----------------------------------------------------------------------===//
// cond
//===----------------------------------------------------------------------===//

/// A `cond` whose branches have other shapes is the branch that is taken; the
/// ops of both, which are those after `before`, go.
bool FunctionBinder::bindBranch(const Statement &statement, Value *predicate,
                                const Op *before) {
  eraseAfter(before);
  ConstantRef taken = demand(predicate);
  if (!taken && isDecidedInLoop(predicate))
    return false;
  if (!taken) {
    explainUnknown(diags.report(statement.opRange, diag::UnsupportedOp,
                                statement.opName,
                                "the shapes of its results depend on `pred`"),
                   statement.opRange, predicate);
    return false;
  }
  BlockResults chosen;
  return bindBlock(statement.blocks[taken->asBool() ? 0 : 1], {},
                   statement.range, chosen) &&
         defineChosen(statement, chosen);
}

bool FunctionBinder::bindCond(const Statement &statement) {
  if (!hasBlocks(statement, 0))
    return false;
  Value *predicate = operand(statement, "pred");
  if (!predicate)
    return false;
  const Constant *known = knownValue(predicate);
  if (!isOneBool(predicate->type) || (!known && predicate->type.rank() != 0))
    return unsupported(statement.range, "a `pred` that is not a scalar `bool`");
  BlockResults chosen;
  if (known)
    return bindBlock(statement.blocks[known->asBool() ? 0 : 1], {},
                     statement.range, chosen) &&
           defineChosen(statement, chosen);

  BlockResults others;
  Op *before = lastOp();
  ++chosenBlocks;
  bool bound = bindBlock(statement.blocks[0], {}, statement.range, chosen);
  Op *between = lastOp();
  bound &= bindBlock(statement.blocks[1], {}, statement.range, others);
  --chosenBlocks;
  if (!bound || !hasResults(statement, chosen.size()) ||
      !hasResults(statement, others.size()))
    return false;
  // What both blocks give as it is around them needs no choice.
  SmallVector<Value *, 4> yes, no;
  SmallVector<BlockResult *, 4> open;
  SmallVector<StringRef, 4> names;
  for (auto [result, other, declared] :
       zip_equal(chosen, others, statement.results)) {
    if (!result.value || !other.value)
      return false;
    if (!(result.value->type == other.value->type) ||
        result.isList != other.isList)
      return bindBranch(statement, predicate, before);
    result.grows |= other.grows;
    if (result.value == other.value)
      continue;
    yes.push_back(result.value);
    no.push_back(other.value);
    open.push_back(&result);
    names.push_back(declared.name);
  }
  BlockMaker blocks(*function);
  blocks.capture(predicate);
  auto erased = [this](const Op &op) { forget(op); };
  blocks.take(between, no, erased);
  blocks.take(before, yes, erased);
  if (open.empty())
    return defineChosen(statement, chosen);
  Op *op = makeWithBlocks(ops::Cond, statement, blocks, blocks.captures(),
                          /*carried=*/nullptr, names);
  if (!op)
    return false;
  for (auto [result, value] : zip_equal(open, op->resultValues()))
    result->value = value;
  return defineChosen(statement, chosen);
}

//===----------------------------------------------------------------------===//
// while_loop
//===----------------------------------------------------------------------===//

bool FunctionBinder::bindLoopVariables(const Argument &variables,
                                       BlockResults &values) {
  for (const ArgumentValue &variable : variables.values) {
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
  return true;
}

/// What is known of a loop before it runs.
enum class FunctionBinder::Turns : uint8_t { Known, Unknown, Error };

/// Builds the turns of a loop, one after the other, if their number is known.
/// `values` are those of the last turn then.
FunctionBinder::Turns FunctionBinder::unroll(const Statement &statement,
                                             BlockResults &values) {
  for (size_t iteration = 0;; ++iteration) {
    BlockResults goesOn, next;
    if (!bindBlock(statement.blocks[0], values, statement.range, goesOn))
      return Turns::Error;
    const Constant *known = goesOn.size() == 1 && goesOn[0].value
                                ? knownValue(goesOn[0].value)
                                : nullptr;
    if (!known || !isOneBool(known->type()))
      return Turns::Unknown;
    if (!known->asBool())
      return Turns::Known;
    if (iteration == mostIterations || ofBlocks > mostUnrolled)
      return Turns::Unknown;
    if (!bindBlock(statement.blocks[1], values, statement.range, next))
      return Turns::Error;
    if (next.size() != values.size()) {
      diags.report(statement.opRange, diag::ResultCount, statement.opName,
                   values.size(), next.size());
      return Turns::Error;
    }
    values = std::move(next);
  }
}

/// Whether a value of a loop has another shape after a turn.
static bool changesShape(const TensorType &before, const TensorType &after) {
  return before.dtype == after.dtype && before.rank() == after.rank() &&
         before.shape != after.shape;
}

/// A loop whose number of turns is not known. `values` become its results.
/// Sets `changesShapes`, and reports nothing, where that is why there is none.
bool FunctionBinder::makeLoop(const Statement &statement,
                              BlockResults &values) {
  const Block &body = statement.blocks[1];
  if (!hasResults(statement, values.size()))
    return false;
  if (body.results.size() != values.size()) {
    diags.report(statement.opRange, diag::ResultCount, statement.opName,
                 values.size(), body.results.size());
    return false;
  }
  // What the body gives back as it was is the same in all turns.
  auto stays = [&](size_t i) {
    return body.results[i].name == body.inputs[i].name;
  };
  BlockMaker blocks(*function);
  BlockResults inputs = values, goesOn, next;
  SmallVector<Value *, 4> operands;
  SmallVector<BlockResult *, 4> open;
  SmallVector<StringRef, 4> names;
  for (size_t i = 0; i < values.size(); ++i) {
    if (stays(i))
      continue;
    operands.push_back(values[i].value);
    open.push_back(&values[i]);
    names.push_back(statement.results[i].name);
    inputs[i].value =
        blocks.addPlaceholder(values[i].value->type, body.inputs[i].name);
  }
  Op *before = lastOp();
  ++chosenBlocks;
  bool bound = bindBlock(statement.blocks[0], inputs, statement.range, goesOn);
  Op *between = lastOp();
  bound &= bindBlock(body, inputs, statement.range, next);
  --chosenBlocks;
  if (!bound || !areKnown(valuesOf(goesOn)) || !areKnown(valuesOf(next))) {
    eraseAfter(before);
    return false;
  }
  SmallVector<Value *, 4> carried;
  for (size_t i = 0; i < values.size(); ++i) {
    if (next[i].isList != values[i].isList)
      return unsupported(statement.range, "a list as another value");
    changesShapes |= changesShape(values[i].value->type, next[i].value->type);
    if (!stays(i))
      carried.push_back(next[i].value);
  }
  if (changesShapes) {
    eraseAfter(before);
    return false;
  }
  auto erased = [this](const Op &op) { forget(op); };
  blocks.take(between, carried, erased);
  blocks.take(before, valuesOf(goesOn), erased);
  llvm::append_range(operands, blocks.captures());
  if (open.empty())
    return refuse(statement, "nothing changes from turn to turn");
  Op *op = makeWithBlocks(ops::WhileLoop, statement, blocks, operands,
                          Constant::int32(int64_t(open.size())), names);
  if (!op)
    return false;
  for (auto [result, value] : zip_equal(open, op->resultValues()))
    result->value = value;
  return true;
}

bool FunctionBinder::bindWhileLoop(const Statement &statement) {
  const Argument *variables = statement.argument("loop_vars");
  if (!variables) {
    diags.report(statement.range, diag::MissingConstant, statement.opName,
                 "loop_vars");
    return false;
  }
  BlockResults initial;
  if (!hasBlocks(statement, variables->values.size()) ||
      !bindLoopVariables(*variables, initial))
    return false;
  const Op *last = lastOp();
  size_t statements = ofBlocks;
  BlockResults values = initial;
  Turns turns = unroll(statement, values);
  if (turns == Turns::Error)
    return false;
  if (turns == Turns::Unknown) {
    eraseAfter(last);
    ofBlocks = statements;
    values = initial;
    bool ofLoopAround = std::exchange(changesShapes, false);
    bool isMade = makeLoop(statement, values);
    bool needsTurns = std::exchange(changesShapes, ofLoopAround);
    if (isMade)
      return defineChosen(statement, values);
    return needsTurns && bindTurns(statement, initial);
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
