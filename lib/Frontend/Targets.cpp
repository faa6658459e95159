//===- Targets.cpp - finds inputs that are targets ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Targets are found by their uses, not by their names. An input of a model is
/// a target when it is only used as the target of losses, directly or through
/// blocks, repeats and ops that only move elements.
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/DenseMap.h"

using namespace anec;

namespace {

class TargetFinder {
public:
  explicit TargetFinder(const Module &module) : module(module) {}

  /// Whether `value` is used, and only as a target.
  bool isTarget(const Value &value) {
    auto [it, isNew] = known.insert({&value, false});
    if (!isNew)
      return it->second;
    bool result = value.hasUses();
    for (const Operand *use = value.firstUse(); use; use = use->nextUse())
      result = result && use->owner() && isTargetOf(value, *use->owner());
    return known[&value] = result;
  }

private:
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
