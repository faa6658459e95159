//===- Place.cpp - predict where Core ML runs ops -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Place.h"
#include "anec/Ops/Ops.h"

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
  std::vector<PlacedOp> ops;
  for (const Op &op : function.body())
    if (!op.def().has(trait::Stored) && !op.def().has(trait::Constexpr))
      ops.push_back(place(op, target, assumptions));
  return ops;
}

size_t anec::countMoves(llvm::ArrayRef<PlacedOp> ops) {
  size_t moves = 0;
  for (size_t i = 1; i < ops.size(); ++i)
    moves += ops[i].onEngine() != ops[i - 1].onEngine();
  return moves;
}
