//===- ModelCost.cpp - what a package costs on a target -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Package/ModelCost.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Package/ScheduleWalk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace anec;

std::optional<ModelCost> anec::predictModel(const ModelPackage &package,
                                            const Target &target,
                                            Diagnostics &diags) {
  ModelCost model;
  llvm::StringMap<const Function *> functions;
  for (const PackagedKernel &kernel : package.kernels) {
    if (kernel.instances.empty())
      continue; // nothing runs it
    // Instances differ only in their weights.
    std::unique_ptr<Module> program =
        loadKernel(package, kernel, kernel.instances.front(), diags);
    if (!program)
      return std::nullopt;
    functions[kernel.name] = program->functions.front().get();
    model.programs.push_back(std::move(program));
  }
  for (const Function *entry : entryPoints(*package.schedule)) {
    RunCost &run = model.runs.emplace_back();
    run.name = entry->name;
    llvm::StringMap<unsigned> calls;
    walkSchedule(*package.schedule, *entry,
                 [&](const Op &op, const KnownIntegers &) {
                   if (op.is(ops::Call)) {
                     ++calls[op.get(param::callee)];
                   } else if (!op.is(ops::Weight) && !op.is(ops::Const)) {
                     ++run.hostOps;
                     run.hostFlops += countFlops(op);
                   }
                 });
    for (const PackagedKernel &kernel : package.kernels)
      if (const Function *function = functions.lookup(kernel.name))
        if (unsigned count = calls.lookup(kernel.name))
          run.add(*function, kernel.name, count, target);
  }
  llvm::stable_sort(model.runs, [](const RunCost &lhs, const RunCost &rhs) {
    return lhs.dispatches() > rhs.dispatches();
  });
  return model;
}
