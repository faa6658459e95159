//===- Outlook.cpp - what a chip makes of programs ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Outlook.h"
#include "lib/Target/Place.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

void Outlook::add(const Function &function, const Assumptions &assumptions) {
  std::vector<PlacedOp> placed =
      predictPlacement(function, *target, assumptions);
  ++programs;
  ops += placed.size();
  if (assumptions.path != EnginePath::CoreML)
    return;
  OpsAroundEngine around =
      OpsAroundEngine::find(function, *target, assumptions);
  for (const PlacedOp &op : placed) {
    if (op.onEngine())
      continue;
    ++leaving;
    light += isFineForCoreML(*op.op, *op.rule, around);
  }
}

void Outlook::addFindings(llvm::ArrayRef<Finding> findings,
                          const Assumptions &assumptions) {
  for (const Finding &finding : findings) {
    if (!llvm::is_contained(finding.targets, target))
      continue;
    const Rule &rule = *finding.rule;
    if (!assumptions.isError(rule))
      warnings += rule.impact == Impact::Warning && !rule.isDoubtful();
    else if (!llvm::is_contained(refusals, &rule))
      refusals.push_back(&rule);
  }
}

void Outlook::addTime(llvm::StringRef name, const Prediction &cost) {
  if (cost.total > 0)
    times.push_back({name.str(), cost.total, cost.least, cost.most});
}
