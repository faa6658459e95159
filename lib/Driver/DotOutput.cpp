//===- DotOutput.cpp - the schedule of a model as a graph -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "lib/Package/Diags.h"
#include "lib/Package/ScheduleDot.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// Prints the schedule that the package of the model would have.
static bool compileToDot(std::unique_ptr<Module> module,
                         const BuildRequest &request, const OutputPlace &place,
                         BuildResult &result, Diagnostics &diags) {
  result.module = std::move(module);
  if (!runPasses(*result.module, modelOptions(request).passes, diags,
                 &result.reports))
    return false;
  if (llvm::none_of(result.module->functions, [](const auto &function) {
        return function->kind == FunctionKind::Host;
      })) {
    diags.reportFile(request.input, diag::NoSchedule);
    return false;
  }
  return place.write(
      [&](llvm::raw_ostream &out) { printDot(*result.module, out); }, diags);
}

static bool showDot(const ModelPackage &package, const BuildRequest &request,
                    const OutputPlace &place, Diagnostics &diags) {
  return place.write(
      [&](llvm::raw_ostream &out) { printDot(*package.schedule, out); }, diags);
}

constinit const OutputFormat outputs::Dot = {
    .name = "dot",
    .ending = ".dot",
    .summary = "kernels, taps and host ops of a model or a package, for "
               "Graphviz",
    .isOfModels = true,
    .takes = requests::weights | requests::chip | requests::decoding |
             RequestFlags{RequestFlag::ForwardOnly, RequestFlag::Fuse,
                          RequestFlag::WeightMode, RequestFlag::Lora,
                          RequestFlag::Passes},
    .compile = compileToDot,
    .show = showDot,
};
