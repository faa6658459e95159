//===- IROutput.cpp - the IR as text --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Driver/Build.h"
#include "lib/IR/Text.h"

using namespace anec;

static bool compileToIR(std::unique_ptr<Module> module,
                        const BuildRequest &request, const OutputPlace &place,
                        BuildResult &result, Diagnostics &diags) {
  const CompileOptions &options = request.options;
  result.module = std::move(module);
  if (!options.kernel.empty() &&
      !selectKernel(*result.module, options.kernel, diags))
    return false;
  PassManagerOptions passes = options.passes;
  passes.passes = request.passesOr({});
  return runPasses(*result.module, passes, diags, &result.reports) &&
         place.write(
             [&](llvm::raw_ostream &out) { printIR(*result.module, out); },
             diags);
}

static bool showIR(const ModelPackage &package, const BuildRequest &request,
                   const OutputPlace &place, Diagnostics &diags) {
  return place.write(
      [&](llvm::raw_ostream &out) { printIR(*package.schedule, out); }, diags);
}

constinit const OutputFormat outputs::IR = {
    .name = "ir",
    .ending = ".ir",
    .summary = "the IR, after --passes if given",
    .runs = RunsPasses::WhenNamed,
    .takes = requests::objective |
             RequestFlags{RequestFlag::Kernel, RequestFlag::Passes,
                          RequestFlag::Lora},
    .takesWithPasses = requests::passes | requests::chip | requests::weights,
    .takesWithLoss = {RequestFlag::Precision},
    .compile = compileToIR,
    .show = showIR,
};
