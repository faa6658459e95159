//===- ScheduleWalk.cpp - the host schedule, turn by turn -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Package/ScheduleWalk.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

std::vector<const Function *> anec::entryPoints(const Module &module) {
  llvm::StringSet<> bodies;
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (op.is(ops::Repeat))
        bodies.insert(op.get(param::body));
  std::vector<const Function *> entries;
  for (const auto &function : module.functions)
    if (function->kind == FunctionKind::Host &&
        !bodies.contains(function->name))
      entries.push_back(function.get());
  return entries;
}

std::optional<int64_t> anec::instanceOf(const Op &op,
                                        const KnownIntegers &known) {
  const Value *index = op.operand(param::index);
  if (!index)
    return std::nullopt;
  if (const Op *maker = index->definingOp(); maker && maker->is(ops::Const))
    return maker->constant(param::val)->asInt();
  auto it = known.find(index);
  return it == known.end() ? std::nullopt : std::optional(it->second);
}

std::vector<int64_t> anec::turnsOf(const Op &repeat) {
  std::vector<int64_t> turns;
  for (int64_t i = repeat.get(param::from); i < repeat.get(param::to); ++i)
    turns.push_back(i);
  if (repeat.get(param::reverse))
    std::reverse(turns.begin(), turns.end());
  return turns;
}

static void
walk(const Module &module, const Function &function, const KnownIntegers &known,
     llvm::function_ref<void(const Op &, const KnownIntegers &)> visit) {
  for (const Op &op : function.body()) {
    if (!op.is(ops::Repeat)) {
      visit(op, known);
      continue;
    }
    const Function &body = *module.findFunction(op.get(param::body));
    for (int64_t turn : turnsOf(op)) {
      KnownIntegers inside;
      inside[body.parameters()[0].get()] = turn;
      // The index of an outer turn may be handed on.
      for (unsigned slot = 0; slot < op.numOperands(); ++slot)
        if (auto it = known.find(op.operand(slot)); it != known.end())
          inside[body.parameters()[slot + 1].get()] = it->second;
      walk(module, body, inside, visit);
    }
  }
}

void anec::walkSchedule(
    const Module &module, const Function &entry,
    llvm::function_ref<void(const Op &, const KnownIntegers &)> visit) {
  walk(module, entry, KnownIntegers(), visit);
}

std::string anec::instanceName(llvm::StringRef weight,
                               std::optional<int64_t> instance) {
  if (!instance)
    return weight.str();
  auto [layer, name] = weight.split('.');
  return layer.str() + "." + std::to_string(*instance) +
         (name.empty() ? "" : "." + name.str());
}
