//===- Control.cpp - branches and loops -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The ops with blocks (IR/Blocks.h). Each block takes all operands of the op.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Control.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Control.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static std::string spell(llvm::ArrayRef<TensorType> types) {
  std::string text;
  for (const TensorType &type : types)
    text += (text.empty() ? "" : ", ") + type.str();
  return "(" + text + ")";
}

static llvm::SmallVector<TensorType, 4> resultTypes(const Function &block) {
  llvm::SmallVector<TensorType, 4> types;
  for (const Value *value : block.resultValues())
    types.push_back(value->type);
  return types;
}

static bool isOneBool(const TensorType &type) {
  return type.dtype == DType::Bool && type.numElements() == 1;
}

/// Whether blocks can have the op: those that backends run as they are.
static bool isForBlocks(const Op &op) {
  bool isMemory = op.def().has(trait::SideEffect) && blocksSlot(op.def()) < 0;
  return (op.def().has(trait::Mil) || op.is(ops::Const)) && !isMemory;
}

/// The two blocks, if they take all operands; null after an error.
static const Blocks *twoBlocks(InferContext &ctx) {
  const Blocks *blocks = Blocks::of(ctx.constant(param::blocks));
  if (!blocks || blocks->size() != 2) { // C1
    ctx.fail(diag::BlockForm(ctx.opName(), "it has two blocks"));
    return nullptr;
  }
  llvm::SmallVector<TensorType, 4> wanted;
  for (const Value *operand : ctx.operands)
    wanted.push_back(operand->type);
  for (const auto &block : blocks->functions()) {
    llvm::SmallVector<TensorType, 4> taken;
    for (const auto &parameter : block->parameters())
      taken.push_back(parameter->type);
    if (taken != wanted) { // C2
      ctx.fail(diag::BlockForm(ctx.opName(), "a block takes " + spell(taken) +
                                                 " instead of " +
                                                 spell(wanted)));
      return nullptr;
    }
    for (const Op &op : block->body())
      if (!isForBlocks(op)) { // C3
        ctx.fail(diag::BlockForm(ctx.opName(),
                                 "a block has the op `" + op.def().name.str() +
                                     "`, which can only be outside"));
        return nullptr;
      }
  }
  return blocks;
}

bool anec::runBlocks(const OpDef &def, const Blocks &blocks,
                     llvm::ArrayRef<const RefTensor *> operands,
                     llvm::MutableArrayRef<RefTensor> results, RunBlock run) {
  std::vector<RefTensor> values, found;
  for (const RefTensor *operand : operands)
    values.push_back(*operand);
  if (&def == &ops::Cond) {
    if (!run(blocks[values[0].data[0] != 0 ? 0 : 1], values, found))
      return false;
    std::move(found.begin(), found.end(), results.begin());
    return true;
  }
  while (true) {
    if (!run(blocks[0], values, found))
      return false;
    if (found[0].data[0] == 0)
      break;
    if (!run(blocks[1], values, found))
      return false;
    std::move(found.begin(), found.end(), values.begin());
  }
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = std::move(values[i]);
  return true;
}

/// Without rounding in between; the interpreter runs blocks with its options.
static void evalBlocks(EvalContext &ctx) {
  Diagnostics ignored; // all ops of blocks have a reference
  runBlocks(ctx.def, *Blocks::of(ctx.constant(param::blocks)), ctx.in, ctx.out,
            [&](const Function &block, llvm::ArrayRef<RefTensor> inputs,
                std::vector<RefTensor> &outputs) {
              return interpret(block, inputs, outputs, ignored);
            });
}

/// The operations of a block's ops, each once.
static int64_t flopsOf(const Function &block) {
  int64_t sum = 0;
  for (const Op &op : block.body())
    sum += countFlops(op);
  return sum;
}

//===----------------------------------------------------------------------===//
// cond
//===----------------------------------------------------------------------===//

static bool inferCond(InferContext &ctx) {
  const Blocks *blocks = twoBlocks(ctx);
  if (!blocks)
    return false;
  if (!isOneBool(ctx.type(0))) // C4
    return ctx.fail(
        diag::BlockForm(ctx.opName(), "the condition has the type `" +
                                          ctx.describeOperand(0) +
                                          "` instead of `bool`"),
        {0});
  ctx.results = resultTypes((*blocks)[0]);
  llvm::SmallVector<TensorType, 4> others = resultTypes((*blocks)[1]);
  return ctx.results == others || // C5
         ctx.fail(diag::BlockForm(ctx.opName(), "its blocks give " +
                                                    spell(ctx.results) +
                                                    " and " + spell(others)));
}

/// Those of the block that takes longer.
static int64_t flopsCond(const Op &op) {
  int64_t most = 0;
  for (const auto &block : blocksOf(op))
    most = std::max(most, flopsOf(*block));
  return most;
}

constinit const OpDef ops::Cond = {
    .name = "cond",
    .summary = "The results of the first block if the first of `values` is "
               "true, and else those of the second. Each block gets all "
               "`values`.",
    .family = "control flow",
    .params = {variadic(param::values, movableTypes, 0),
               blocksParam("the blocks, written after the types")},
    .traits = trait::Mil | trait::SideEffect | trait::NotCallable,
    .constraints = {"there are two blocks",
                    "each takes values of the types of `values`",
                    "ops of blocks are MIL's, and neither states nor calls",
                    "the first of `values` is one `bool`",
                    "both blocks give the same types"},
    .infer = inferCond,
    .eval = evalBlocks,
    .flops = flopsCond,
    .positions = {positions::apart},
};

//===----------------------------------------------------------------------===//
// while_loop
//===----------------------------------------------------------------------===//

static bool inferWhileLoop(InferContext &ctx) {
  const Blocks *blocks = twoBlocks(ctx);
  if (!blocks)
    return false;
  int64_t carried = ctx.get(param::carried);
  if (!checkRange(ctx, param::carried, 1, ctx.operands.size())) // C4
    return false;
  llvm::SmallVector<TensorType, 4> goesOn = resultTypes((*blocks)[0]);
  if (goesOn.size() != 1 || !isOneBool(goesOn[0])) // C5
    return ctx.fail(diag::BlockForm(ctx.opName(), "its first block gives " +
                                                      spell(goesOn) +
                                                      " instead of (bool)"));
  for (const Value *operand : ctx.operands.take_front(carried))
    ctx.results.push_back(operand->type);
  llvm::SmallVector<TensorType, 4> next = resultTypes((*blocks)[1]);
  return ctx.results == next || // C6
         ctx.fail(diag::BlockForm(
             ctx.opName(), "a turn makes " + spell(next) + " of " +
                               spell(ctx.results) +
                               "; a value keeps its type from turn to turn"));
}

/// Those of one turn: values decide how many there are.
static int64_t flopsWhileLoop(const Op &op) {
  int64_t sum = 0;
  for (const auto &block : blocksOf(op))
    sum += flopsOf(*block);
  return sum;
}

constinit const OpDef ops::WhileLoop = {
    .name = "while_loop",
    .summary = "As long as the first block says so, the results of the second "
               "replace the first `carried` of `values`; they are the results "
               "in the end. Each block gets all `values`.",
    .family = "control flow",
    .params = {variadic(param::values, movableTypes, 0),
               integer(param::carried),
               blocksParam("the blocks, written after the types")},
    .traits = trait::Mil | trait::SideEffect | trait::NotCallable,
    .constraints = {"there are two blocks",
                    "each takes values of the types of `values`",
                    "ops of blocks are MIL's, and neither states nor calls",
                    "`carried` is 1 to the number of `values`",
                    "the first block gives one `bool`",
                    "the second block gives the types of the values that are "
                    "carried"},
    .infer = inferWhileLoop,
    .eval = evalBlocks,
    .flops = flopsWhileLoop,
    .positions = {positions::apart},
};
