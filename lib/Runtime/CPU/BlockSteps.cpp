//===- BlockSteps.cpp - branches and loops --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A block is a program of its own, with memory of its own for what it
/// computes. It reads the values that it takes where they are: operands of the
/// op, or, of what a loop carries, the results of the op.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/IR/Blocks.h"
#include "lib/Ops/Rows/Control.h"
#include "lib/Support/Interruption.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace anec;
using namespace anec::cpu;

namespace {

/// The memory of a value.
struct Words {
  uint32_t *begin;
  size_t count;
};

class BlockProgram {
public:
  /// `inputs` has the memory of each parameter.
  BlockProgram(const Function &block, llvm::ArrayRef<Words> inputs,
               StepContext &around)
      : workspace(
            std::shared_ptr<Executor>(std::shared_ptr<void>(), &around.pool)),
        parts(outputsOf(block)), schedule(block, parts, around.numerics),
        storage(block, schedule, parts, around.numerics,
                placesOf(block, inputs), workspace) {
    StepContext ctx{storage,         schedule,        around.pool,
                    around.numerics, around.products, around.hazards};
    for (const Step &step : schedule.steps)
      steps.push_back(makeStep(step, ctx));
    for (const Value *result : block.resultValues()) {
      results.push_back(
          {storage.words(result), size_t(result->type.numElements())});
      isInput.push_back(!schedule.root(result)->definingOp());
    }
  }

  void run() {
    for (const StepFn &step : steps)
      step();
  }
  const int32_t *firstResult() const {
    return reinterpret_cast<const int32_t *>(results[0].begin);
  }
  /// Copies the results. One that is an input may be in `to` itself.
  void copyResults(llvm::ArrayRef<Words> to) {
    for (size_t i = 0; i < results.size(); ++i)
      if (isInput[i])
        kept.insert(kept.end(), results[i].begin,
                    results[i].begin + results[i].count);
    const uint32_t *next = kept.data();
    for (size_t i = 0; i < results.size(); ++i) {
      std::memcpy(to[i].begin, isInput[i] ? next : results[i].begin,
                  results[i].count * 4);
      next += isInput[i] ? results[i].count : 0;
    }
    kept.clear();
  }

private:
  /// Results keep their memory until the end.
  static PortParts outputsOf(const Function &block) {
    PortParts parts;
    for (const Value *result : block.resultValues())
      parts.outputs.push_back({unsigned(parts.outputs.size()),
                               matrixOf(result->type.shape), result});
    return parts;
  }
  static Storage::Places placesOf(const Function &block,
                                  llvm::ArrayRef<Words> inputs) {
    Storage::Places places;
    for (auto [param, words] : llvm::zip_equal(block.parameters(), inputs))
      places[param.get()] = words.begin;
    return places;
  }

  Workspace workspace; ///< beside that of the program around
  PortParts parts;
  Schedule schedule;
  Storage storage;
  std::vector<StepFn> steps;
  llvm::SmallVector<Words, 4> results;
  llvm::SmallVector<bool, 4> isInput;
  std::vector<uint32_t> kept;
};

Words wordsOf(const Value *value, const StepContext &ctx) {
  return {ctx.storage.words(value), size_t(value->type.numElements())};
}

} // namespace

static StepFn makeCond(const Op &op, StepContext &ctx) {
  llvm::SmallVector<Words, 4> inputs, results;
  for (const Value *operand : op.operandValues())
    inputs.push_back(wordsOf(operand, ctx));
  for (const Value *result : op.resultValues())
    results.push_back(wordsOf(result, ctx));
  llvm::SmallVector<std::shared_ptr<BlockProgram>, 2> blocks;
  for (const auto &block : blocksOf(op))
    blocks.push_back(std::make_shared<BlockProgram>(*block, inputs, ctx));
  const uint32_t *condition = inputs[0].begin;
  return [=] {
    BlockProgram &chosen = *blocks[*condition ? 0 : 1];
    chosen.run();
    chosen.copyResults(results);
  };
}

static StepFn makeWhileLoop(const Op &op, StepContext &ctx) {
  llvm::SmallVector<Words, 4> initial, inputs, results;
  for (const Value *operand : op.operandValues())
    inputs.push_back(wordsOf(operand, ctx));
  for (const Value *result : op.resultValues())
    results.push_back(wordsOf(result, ctx));
  initial.assign(inputs.begin(), inputs.begin() + results.size());
  llvm::copy(results, inputs.begin());
  auto blocks = blocksOf(op);
  auto goesOn = std::make_shared<BlockProgram>(*blocks[0], inputs, ctx);
  auto turn = std::make_shared<BlockProgram>(*blocks[1], inputs, ctx);
  return [=] {
    for (auto [from, to] : llvm::zip_equal(initial, results))
      std::memcpy(to.begin, from.begin, to.count * 4);
    while (!Interruption::isAsked()) {
      goesOn->run();
      if (*goesOn->firstResult() == 0)
        return;
      turn->run();
      turn->copyResults(results);
    }
  };
}

static constexpr StepRow blockStepsTable[] = {
    {&ops::Cond, makeCond},
    {&ops::WhileLoop, makeWhileLoop},
};

llvm::ArrayRef<StepRow> cpu::blockSteps() { return blockStepsTable; }
