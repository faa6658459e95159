//===- Place.cpp - predict where Core ML runs ops -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Target/Place.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Rows/Cast.h"

using namespace anec;

/// Whether Core ML runs what breaks the rule elsewhere.
static bool keepsOff(const Rule &rule) {
  return rule.impact == Impact::Error || &rule == &rules::Fp32Inside;
}

static PlacedOp place(const Op &op, const Target &target,
                      const Assumptions &assumptions) {
  for (const Rule *rule : allRules())
    if (rule->ofOp && keepsOff(*rule) && assumptions.demands(*rule, target))
      if (Verdict why = rule->ofOp(op, target))
        return {&op, rule, std::move(*why)};
  return {&op, nullptr, ""};
}

std::vector<PlacedOp> anec::predictPlacement(const Function &function,
                                             const Target &target,
                                             std::optional<OSVersion> macOS) {
  Assumptions assumptions;
  assumptions.macOS = macOS;
  assumptions.path = EnginePath::CoreML;
  return predictPlacement(function, target, assumptions);
}

std::vector<PlacedOp> anec::predictPlacement(const Function &function,
                                             const Target &target,
                                             const Assumptions &assumptions) {
  std::vector<PlacedOp> ops;
  for (const Op &op : function.body())
    if (!op.def().has(trait::Stored) && !op.def().has(trait::Constexpr))
      ops.push_back(place(op, target, assumptions));
  return ops;
}

/// Whether the op is work that the engine does: it computes with floats.
static bool isWork(const Op &op, const PlacedOp &placed) {
  return placed.onEngine() && countFlops(op) > 0 &&
         llvm::any_of(op.resultValues(), [](const Value *result) {
           return isFloat(result->type.dtype);
         });
}

static llvm::SmallVector<const Op *> producersOf(const Op &op) {
  llvm::SmallVector<const Op *> producers;
  for (const Value *operand : op.operandValues())
    if (const Op *from = operand ? operand->definingOp() : nullptr)
      producers.push_back(from);
  return producers;
}

static llvm::SmallVector<const Op *> usersOf(const Op &op) {
  llvm::SmallVector<const Op *> users;
  for (const Value *result : op.resultValues())
    for (const Operand *use = result->firstUse(); use; use = use->nextUse())
      if (use->owner())
        users.push_back(use->owner());
  return users;
}

OpsAroundEngine OpsAroundEngine::find(const Function &function,
                                      const Target &target,
                                      const Assumptions &assumptions) {
  OpsAroundEngine found;
  llvm::DenseSet<const Op *> work, behind, before, left;
  std::vector<const Op *> ops;
  auto isWorkOrIn = [&](const llvm::DenseSet<const Op *> &set) {
    return [&](const Op *op) { return work.contains(op) || set.contains(op); };
  };
  for (const Op &op : function.body()) {
    ops.push_back(&op);
    PlacedOp placed = place(op, target, assumptions);
    if (isWork(op, placed))
      work.insert(&op);
    if (!placed.onEngine() && !op.is(ops::Cast))
      left.insert(&op);
    if (llvm::any_of(producersOf(op), isWorkOrIn(behind)))
      behind.insert(&op);
  }
  found.hasWork = !work.empty();
  for (const Op *op : llvm::reverse(ops))
    if (llvm::any_of(usersOf(*op), isWorkOrIn(before)))
      before.insert(op);
  for (const Op *op : ops) {
    if (!behind.contains(op) || !before.contains(op))
      found.atEnds.insert(op);
    auto isLeft = [&](const Op *other) { return left.contains(other); };
    if (op->is(ops::Cast) && (llvm::any_of(producersOf(*op), isLeft) ||
                              llvm::any_of(usersOf(*op), isLeft)))
      found.castsOfOthers.insert(op);
  }
  return found;
}

bool anec::isFineForCoreML(const Op &op, const Rule &rule,
                           const OpsAroundEngine &around) {
  return (rule.isFineAtEnds && around.atEnds.contains(&op)) ||
         (rule.isFineForCoreML && rule.isFineForCoreML(op, around));
}

size_t anec::countMoves(llvm::ArrayRef<PlacedOp> ops) {
  size_t moves = 0;
  for (size_t i = 1; i < ops.size(); ++i)
    moves += ops[i].onEngine() != ops[i - 1].onEngine();
  return moves;
}
