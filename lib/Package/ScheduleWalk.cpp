//===- ScheduleWalk.cpp - iterate over the host schedule ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/ScheduleWalk.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Weights.h"

using namespace anec;

std::vector<const Function *> anec::entryPoints(const Module &module) {
  std::vector<const Function *> entries;
  for (const auto &function : module.functions)
    if (function->isEntry())
      entries.push_back(function.get());
  return entries;
}

std::optional<int64_t> anec::instanceOf(const Op &op,
                                        const KnownIntegers &known) {
  const Value *index = op.operand(param::index);
  if (!index)
    return std::nullopt;
  auto it = known.find(index);
  return it == known.end() ? std::nullopt : std::optional(it->second);
}

bool anec::evaluateInteger(const Op &op, KnownIntegers &known) {
  const TensorType number(DType::Int32);
  if (op.numResults() != 1 || op.result()->type != number || !op.def().eval ||
      op.def().has(trait::SideEffect))
    return false;
  std::vector<RefTensor> values;
  for (const Value *operand : op.operandValues()) {
    auto it = operand ? known.find(operand) : known.end();
    if (it == known.end())
      return false;
    values.push_back({number, {double(it->second)}});
  }
  llvm::SmallVector<const RefTensor *, 2> operands;
  for (const RefTensor &value : values)
    operands.push_back(&value);
  RefTensor result{number, {0}};
  EvalContext ctx{op.def(), op.constants(), operands, result};
  op.def().eval(ctx);
  known[op.result()] = int64_t(result.data[0]);
  return true;
}

std::vector<int64_t> anec::turnsOf(const Op &repeat) {
  std::vector<int64_t> turns;
  for (int64_t i = repeat.get(param::from); i < repeat.get(param::to); ++i)
    turns.push_back(i);
  if (repeat.get(param::reverse))
    std::reverse(turns.begin(), turns.end());
  return turns;
}

namespace {

struct KnownWeight {
  WeightView view;
  std::optional<int64_t> instance;
  bool isOfTurn; ///< the instance follows from a loop index
};

/// Known values in one iteration.
struct Known {
  KnownIntegers integers;
  /// Weights, including an iteration's slice of a stack of weights.
  llvm::DenseMap<const Value *, KnownWeight> weights;
};

} // namespace

/// The known values in the body of `repeat` in iteration `turn`, from those
/// known around it.
static Known enterTurn(const Op &repeat, const Function &body, int64_t turn,
                       const Known &outside) {
  Known inside;
  inside.integers[body.parameters()[0].get()] = turn;
  unsigned carried = repeat.get(param::carried);
  unsigned sliced = repeat.numOperands() - repeat.get(param::sliced);
  for (unsigned slot = 0; slot < repeat.numOperands(); ++slot) {
    const Value *operand = repeat.operand(slot);
    const Value *param = body.parameters()[slot + 1].get();
    // The index of an outer loop can be passed on.
    if (auto it = outside.integers.find(operand); it != outside.integers.end())
      inside.integers[param] = it->second;
    auto weight = outside.weights.find(operand);
    if (slot < carried || weight == outside.weights.end())
      continue;
    KnownWeight part = weight->second;
    if (slot >= sliced) {
      ArrayView &array = part.view.array;
      Shape begin(array.shape().size(), 0), end = array.shape();
      begin[0] = turn - repeat.get(param::from);
      end[0] = begin[0] + 1;
      array = array.slice(begin, end).reshape(param->type.shape);
    }
    inside.weights.insert({param, std::move(part)});
  }
  return inside;
}

/// Whether an index is no constant.
static bool dependsOnTurn(const Value *index) {
  return index && !(index->definingOp() && index->definingOp()->is(ops::Const));
}

static void walk(const Module &module, const Function &function, Known &known,
                 llvm::function_ref<void(const Op &, const Known &)> visit) {
  for (const Op &op : function.body()) {
    if (op.is(ops::Repeat)) {
      const Function &body = *module.findFunction(op.get(param::body));
      for (int64_t turn : turnsOf(op)) {
        Known inside = enterTurn(op, body, turn, known);
        walk(module, body, inside, visit);
      }
      continue;
    }
    if (op.is(ops::Weight)) {
      const Value *index = op.operand(param::index);
      known.weights[op.result()] = {viewOf(op), instanceOf(op, known.integers),
                                    dependsOnTurn(index)};
    }
    evaluateInteger(op, known.integers);
    visit(op, known);
  }
}

void anec::walkSchedule(
    const Module &module, const Function &entry,
    llvm::function_ref<void(const Op &, const KnownIntegers &)> visit) {
  Known known;
  walk(module, entry, known,
       [&](const Op &op, const Known &known) { visit(op, known.integers); });
}

void anec::walkPassedWeights(
    const Module &module, const Function &entry,
    llvm::function_ref<void(const Op &, unsigned, const WeightView &)> visit) {
  Known known;
  walk(module, entry, known, [&](const Op &op, const Known &known) {
    if (!op.is(ops::Call))
      return;
    std::optional<int64_t> instance = instanceOf(op, known.integers);
    // The index precedes the arguments.
    for (unsigned slot = 1; slot < op.numOperands(); ++slot) {
      auto weight = known.weights.find(op.operand(slot));
      if (weight == known.weights.end())
        continue;
      auto &[view, number, isOfTurn] = weight->second;
      WeightView passed = view;
      if (number)
        passed.instance = instance == number || (!instance && isOfTurn)
                              ? WeightInstance::own()
                              : WeightInstance::of(*number);
      visit(op, slot - 1, passed);
    }
  });
}
