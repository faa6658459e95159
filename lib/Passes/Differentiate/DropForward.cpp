//===- DropForward.cpp - training steps without their models --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A training step computes the loss too. Keeping the model beside it would
/// mean kernels of its own: those of the step give taps that it does not need.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/OpDef.h"
#include "anec/Ops/Ops.h"
#include "anec/Passes/Pass.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

/// `host` and the bodies it repeats.
static void collect(const Module &module, const Function &host,
                    llvm::StringSet<> &names) {
  names.insert(host.name);
  for (const Op &op : host.body())
    if (op.is(ops::Repeat))
      if (const Function *body = module.findFunction(op.get(param::body)))
        collect(module, *body, names);
}

static bool dropForward(Module &module, PassContext &ctx) {
  llvm::StringSet<> dropped;
  for (const auto &host : module.functions)
    if (host->kind == FunctionKind::Host &&
        module.findFunction(host->name + ".train"))
      collect(module, *host, dropped);
  ctx.count("dropped", dropped.size());
  llvm::erase_if(module.functions, [&](const auto &function) {
    return dropped.contains(function->name);
  });
  return !dropped.empty();
}

constinit const PassDef passes::DropForward = {
    .name = "drop-forward",
    .summary = "Remove models that a training step contains",
    .description = "host @m(...) {...}  host @m.train(...) {...}\n"
                   "  ==>  host @m.train(...) {...}",
    .stats = {{{"dropped", "host functions removed"}}},
    .tolerance = 0,
    .runOnModule = dropForward,
};
