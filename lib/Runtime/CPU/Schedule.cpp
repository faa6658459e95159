//===- Schedule.cpp - which ops run together ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "AttentionOps.h"
#include "Merging.h"
#include "PortParts.h"
#include "StatesInPlace.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Norm.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace anec;
using namespace anec::cpu;

bool cpu::isAlias(const Op &op, Numerics numerics) {
  if (op.def().has(trait::Renames))
    return true;
  if (!op.is(ops::Cast))
    return false;
  DType from = op.operand(0u)->type.dtype, to = op.result()->type.dtype;
  if (from == to)
    return true;
  // Both are held as fp32; only narrowing rounds, and not in fp32 numerics.
  return isFloat(from) && isFloat(to) &&
         (to == DType::FP32 || numerics == Numerics::FP32);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether `op` can be computed in one tile with the ops of `step`.
bool Schedule::joins(const Op &op, const Step &step) const {
  if (!step.fused ||
      step.ops.front()->result()->type.shape != op.result()->type.shape)
    return false;
  // A value of this step that is renamed or broadcast would be read at elements
  // outside its tile.
  auto made = [&](const Value *value) {
    return llvm::any_of(
        step.ops, [&](const Op *other) { return other->result() == value; });
  };
  for (const Value *operand : op.operandValues())
    if (operand != root(operand) && made(root(operand)))
      return false;
  return true;
}

bool Schedule::isFoldable(const Op &op) const {
  return op.def().eval && !op.is(ops::Const) &&
         !op.def().has(trait::SideEffect) &&
         llvm::all_of(op.operandValues(), [&](const Value *operand) {
           return !operand || isConstant(operand);
         });
}

/// Whether no later step reads a result of the fused step, so that it can run
/// after them. A renamed value counts as read.
bool Schedule::canMoveToEnd(size_t number) const {
  // Looking at many uses for every op would make loading quadratic.
  unsigned usesLeft = 32;
  for (const Op *op : steps[number].ops)
    for (const Operand *use = op->result()->firstUse(); use;
         use = use->nextUse()) {
      if (!use->owner())
        continue; // a result of the function
      const Op *user = use->owner();
      auto reader = stepOf.find(user);
      bool renamed =
          llvm::any_of(user->resultValues(), [&](const Value *value) {
            return root(value) == op->result();
          });
      if (usesLeft-- == 0 || renamed ||
          (reader != stepOf.end() && reader->second != number))
        return false;
    }
  return true;
}

/// The step for `op`: the last one; or one that makes an operand and can be
/// delayed until now, as in silu(gate) * up, with a product between the two; or
/// a new one.
Step &Schedule::stepFor(const Op &op) {
  bool fusible = fuses && tileKernel(op).has_value();
  if (fusible && !steps.empty() && joins(op, steps.back()))
    return steps.back();
  if (fusible)
    for (const Value *operand : op.operandValues()) {
      if (!operand)
        continue;
      auto maker = stepOf.find(operand->definingOp());
      if (!operand->definingOp() || maker == stepOf.end())
        continue;
      size_t number = maker->second;
      if (!joins(op, steps[number]) || !canMoveToEnd(number))
        continue;
      // The moved step leaves an empty one, so that the numbers of steps do not
      // change.
      steps.push_back(std::exchange(steps[number], {}));
      for (const Op *moved : steps.back().ops)
        stepOf[moved] = steps.size() - 1;
      return steps.back();
    }
  steps.push_back({{}, fusible});
  return steps.back();
}

/// Makes `op` part of the step that computes `x`.
void Schedule::merge(const Op &op, const Value *x) {
  size_t number = stepOf.lookup(x->definingOp());
  steps[number].ops.push_back(&op);
  stepOf[&op] = number;
  internal.insert(x);
}

bool Step::hasFoldedNorm() const {
  return isMerged() && ops[1]->is(ops::BatchNorm);
}

/// Finds values with all uses in the step that makes them. A use without an op
/// is a result of the function; a use by an alias is outside the step.
void Schedule::findInternalValues() {
  for (const Step &step : steps) {
    if (!step.fused)
      continue;
    for (const Op *op : step.ops) {
      const Value *result = op->result();
      bool inside = true;
      for (const Operand *use = result->firstUse(); use; use = use->nextUse())
        inside &= use->owner() && stepOf.count(use->owner()) &&
                  stepOf.lookup(use->owner()) == stepOf.lookup(op);
      if (inside)
        internal.insert(result);
    }
  }
}

/// Whether a step from `begin` to `end` changes a state, which values read
/// before it can be parts of.
bool Schedule::writesState(size_t begin, size_t end) const {
  for (size_t number = begin; number < end; ++number)
    for (const Op *op : steps[number].ops)
      if (op->is(ops::WriteState) ||
          llvm::any_of(op->resultValues(), [&](const Value *result) {
            return root(result) != result;
          }))
        return true;
  return false;
}

/// Makes the ops of each attention one step, where the last of them is.
void Schedule::findAttention(Numerics numerics) {
  for (size_t number = 0; number < steps.size(); ++number) {
    if (steps[number].ops.size() != 1)
      continue;
    std::optional<AttentionOps> attention =
        attentionBefore(*steps[number].ops.front(), numerics);
    if (!attention)
      continue;
    llvm::SmallVector<const Op *, 12> ops = attention->all();
    bool isWhole = true; // no op is in a step with others, or constant
    size_t begin = number;
    for (const Op *op : ops) {
      auto at = stepOf.find(op);
      if (at != stepOf.end())
        begin = std::min(begin, at->second);
      isWhole &= at != stepOf.end() &&
                 llvm::all_of(steps[at->second].ops, [&](const Op *other) {
                   return llvm::is_contained(ops, other);
                 });
      if (op->is(ops::Matmul))
        for (const Value *operand : op->operandValues())
          isWhole &= !isConstant(operand);
    }
    if (!isWhole || writesState(begin, number))
      continue;
    for (const Op *op : ops) {
      steps[stepOf.lookup(op)].ops.clear();
      stepOf[op] = number;
      if (op != ops.back())
        internal.insert(op->result());
    }
    steps[number].ops.assign(ops.begin(), ops.end());
    steps[number].fused = false;
  }
}

Schedule::Schedule(const Function &function, const PortParts &parts,
                   Numerics numerics)
    : fuses(!isEmulated(numerics)) {
  StatesInPlace states(function, numerics);
  for (const auto &param : function.parameters())
    roots[param.get()] = param.get();
  for (const Op &op : function.body()) {
    auto part = states.parts.find(&op);
    bool isPart = part != states.parts.end();
    bool alias = isPart || isAlias(op, numerics);
    bool isInPlace = alias || states.updates.contains(&op);
    for (const Value *result : op.resultValues()) {
      roots[result] = isInPlace ? root(op.operand(0u)) : result;
      if (!alias)
        continue;
      int64_t before = offsets.lookup(op.operand(0u));
      if (int64_t offset = before + (isPart ? part->second : 0))
        offsets[result] = offset;
    }
    if (alias || states.writes.contains(&op) || parts.absorbed.contains(&op))
      continue;
    bool folds = isFoldable(op);
    if (folds)
      folded.push_back(&op);
    if (folds || op.is(ops::Const)) {
      for (const Value *result : op.resultValues())
        constants.insert(result);
      continue;
    }
    if (fuses && (isNormOfConv(op, *this, numerics) ||
                  isBiasOfMatmul(op, *this, numerics))) {
      merge(op, op.is(ops::Add) ? summandOf(op) : op.operand(param::x));
      continue;
    }
    stepFor(op).ops.push_back(&op);
    stepOf[&op] = steps.size() - 1;
  }
  if (fuses)
    findAttention(numerics);
  findInternalValues();
  llvm::erase_if(steps, [](const Step &step) { return step.ops.empty(); });
}
