//===- Targets.cpp - finds inputs that are targets ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Targets are found by their uses, not by their names. An input of a model is
/// a target when it is only used as the target of losses, directly or through
/// blocks, repeats and ops that only move elements. Uses by metrics, which the
/// loss does not depend on, do not count.
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/DenseMap.h"

using namespace anec;

namespace {

class TargetFinder {
public:
  explicit TargetFinder(const Module &module) : module(module) {
    for (const auto &function : module.functions)
      if (std::optional<unsigned> loss = function->resultOf(ValueRole::Loss))
        findMetricOps(*function, *function->result(*loss));
  }

  /// Whether the loss depends on `value`, and only as a target.
  bool isTarget(const Value &value) {
    auto [it, isNew] = known.insert({&value, false});
    if (!isNew)
      return it->second;
    bool isUsed = false, result = true;
    for (const Operand *use = value.firstUse(); use; use = use->nextUse()) {
      if (metricOps.contains(use->owner()))
        continue;
      isUsed = true;
      result = result && use->owner() && isTargetOf(value, *use->owner());
    }
    return known[&value] = result && isUsed;
  }

private:
  /// Finds the ops of a model that its loss does not depend on.
  void findMetricOps(const Function &model, const Value &loss) {
    llvm::DenseSet<const Value *> needed = {&loss};
    for (const Op &op : llvm::reverse(model.body())) {
      if (llvm::none_of(op.resultValues(), [&](const Value *result) {
            return needed.contains(result);
          })) {
        metricOps.insert(&op);
        continue;
      }
      for (const Value *operand : op.operandValues())
        needed.insert(operand);
    }
  }

  /// The same for its uses by `op`.
  bool isTargetOf(const Value &value, const Op &op) {
    if (op.def().has(trait::DataMovement))
      return llvm::all_of(op.resultValues(), [&](const Value *result) {
        return isTarget(*result);
      });
    for (unsigned slot = 0; slot < op.numOperands(); ++slot)
      if (op.operand(slot) == &value && !isTargetSlot(op, slot))
        return false;
    return true;
  }

  bool isTargetSlot(const Op &op, unsigned slot) {
    if (op.def().has(trait::Call)) // the index of the instance comes first
      return slot != 0 && isTargetParameter(op.get(param::callee), slot - 1);
    if (op.is(ops::Repeat)) // carried values are results, too
      return slot >= op.get(param::carried) &&
             isTargetParameter(op.get(param::body), slot + 1);
    return int(slot) == op.def().valueSlot(ValueRole::Target);
  }

  bool isTargetParameter(llvm::StringRef function, unsigned index) {
    return isTarget(*module.findFunction(function)->parameters()[index]);
  }

  const Module &module;
  llvm::DenseMap<const Value *, bool> known;
  llvm::DenseSet<const Op *> metricOps;
};

} // namespace

void frontend::markTargets(Module &module) {
  TargetFinder finder(module);
  for (const auto &function : module.functions)
    if (function->isEntry())
      for (const auto &param : function->parameters())
        if (finder.isTarget(*param))
          param->setRole(ValueRole::Target);
}
