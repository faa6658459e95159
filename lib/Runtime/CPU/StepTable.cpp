//===- StepTable.cpp - which step runs an op ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emulation/EmulatedSteps.h"
#include "Steps.h"
#include "lib/IR/OpDef.h"
#include "lib/Runtime/CPU/HostProgram.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

using namespace anec;
using namespace anec::cpu;

using StepTable =
    llvm::DenseMap<const OpDef *, llvm::SmallVector<StepMaker, 1>>;

static StepTable collect() {
  StepTable table;
#define STEP_FAMILY(NAME)                                                      \
  for (const StepRow &row : NAME##Steps())                                     \
    table[row.op].push_back(row.make);
#include "StepFamilies.def"
  return table;
}

/// The makers of an op, the best first.
static llvm::ArrayRef<StepMaker> makersOf(const OpDef &def) {
  static const StepTable table = collect();
  auto found = table.find(&def);
  return found == table.end() ? llvm::ArrayRef<StepMaker>() : found->second;
}

bool cpu::hasStep(const OpDef &def) { return !makersOf(def).empty(); }

StepFn cpu::makeStep(const Step &step, StepContext &ctx) {
  if (step.fused)
    return makeFused(step, ctx);
  if (step.isAttention())
    return makeAttentionOps(step, ctx);
  const Op &op = *step.ops.front();
  if (auto weight = ctx.storage.stored(op))
    return makeWithStoredWeight(op, std::move(weight), ctx);
  if (isEmulated(ctx.numerics))
    if (StepFn fn = makeEmulated(op, ctx))
      return fn;
  for (StepMaker make : makersOf(op.def()))
    if (StepFn fn = make(op, ctx))
      return fn;
  for (StepMaker make : {makeMap, makeUnaryReference})
    if (StepFn fn = make(op, ctx))
      return fn;
  return makeReference(op, ctx);
}
