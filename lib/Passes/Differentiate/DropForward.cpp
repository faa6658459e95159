//===- DropForward.cpp - training steps without their models --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A training step computes the loss too. Keeping the model as well would need
/// separate kernels: those of the step return taps that the model does not
/// need.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

/// Inserts `host` and the bodies it repeats into `functions`.
static void collect(const Module &module, const Function &host,
                    llvm::DenseSet<const Function *> &functions) {
  if (!functions.insert(&host).second)
    return;
  for (const Op &op : host.body())
    if (op.is(ops::Repeat))
      if (const Function *body = module.findFunction(op.get(param::body)))
        collect(module, *body, functions);
}

static bool dropForward(Module &module, PassContext &ctx) {
  llvm::StringSet<> trained;
  for (const auto &host : module.functions)
    if (host->role == FunctionRole::Train)
      trained.insert(host->of());
  // Keep bodies that both repeat.
  llvm::DenseSet<const Function *> dropped, kept;
  for (const auto &host : module.functions)
    if (host->isEntry())
      collect(module, *host,
              host->role == FunctionRole::Forward &&
                      trained.contains(host->of())
                  ? dropped
                  : kept);
  size_t before = module.functions.size();
  llvm::erase_if(module.functions, [&](const auto &function) {
    return dropped.contains(function.get()) && !kept.contains(function.get());
  });
  ctx.count("dropped", before - module.functions.size());
  return module.functions.size() != before;
}

constinit const PassDef passes::DropForward = {
    .name = "drop-forward",
    .summary = "Remove forward functions of models that a training step "
               "already contains",
    .description = "host @m(...) {...}  host @m.train(...) {role = train, of = "
                   "\"m\"} {...}\n"
                   "  ==>  host @m.train(...) {role = train, of = \"m\"} {...}",
    .stats = {{{"dropped", "host functions removed"}}},
    .tolerance = 0,
    .runOnModule = dropForward,
};
