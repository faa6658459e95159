//===- PruneInterfaces.cpp - remove unused parameters and results ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Like `dce`, but for calls and repeats: removes unused parameters, unused
/// results, and ops that only these keep alive.
///
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "RepeatInterface.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static unsigned removeDeadOps(OpenedBody &body) {
  unsigned removed = 0;
  for (Op &op : llvm::make_early_inc_range(llvm::reverse(body.host().body()))) {
    if (op.def().has(trait::SideEffect) ||
        llvm::any_of(op.resultValues(),
                     [](const Value *result) { return result->hasUses(); }))
      continue;
    body.erase(op);
    ++removed;
  }
  return removed;
}

static unsigned pruneRepeats(OpenedModule &opened, Function &host) {
  unsigned changed = 0;
  std::vector<Op *> repeats;
  for (Op &op : host.body())
    if (op.is(ops::Repeat))
      repeats.push_back(&op);
  // Backwards: users of stacks come after their producers.
  for (Op *repeat : llvm::reverse(repeats))
    if (OpenedBody *body = opened.body(repeat->get(param::body)))
      changed += pruneRepeat(*repeat, body->host()) != nullptr;
  return changed;
}

static bool pruneInterfaces(OpenedModule &opened, PassContext &ctx) {
  bool any = false;
  for (bool changed = true; changed; any |= changed) {
    changed = false;
    for (OpenedBody &body : opened.bodies()) {
      unsigned dead = removeDeadOps(body);
      unsigned repeats = pruneRepeats(opened, body.host());
      ctx.count("removed", dead);
      ctx.count("repeats", repeats);
      changed |= dead || repeats;
    }
  }
  return any;
}

constinit const PassDef passes::PruneInterfaces = {
    .name = "prune-interfaces",
    .summary = "Remove unused parameters and results",
    .description = "%a, %b = call @k(%x, %y), %b not used, and @k not using "
                   "%y\n  ==>  %a = call @k(%x)",
    .stats = {{{"removed", "ops removed with unused results"},
               {"repeats", "repeats with fewer operands or results"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnOpened = pruneInterfaces,
};
