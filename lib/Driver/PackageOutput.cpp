//===- PackageOutput.cpp - a model as a package ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"

using namespace anec;

static bool compile(std::unique_ptr<Module> module, const BuildRequest &request,
                    const OutputPlace &place, BuildResult &result,
                    Diagnostics &diags) {
  if (!runPasses(*module, modelPasses(request), diags, &result.reports))
    return false;
  PackageOptions options;
  options.io = request.io;
  options.weightMode = request.weightMode;
  options.weights = request.options.weights;
  options.milVersion = request.options.milVersion;
  options.passes = request.options.passes;
  options.passes.passes.clear();
  return writePackage(std::move(module), place.path, options, diags,
                      &result.reports);
}

constinit const OutputFormat outputs::Package = {
    .name = "package",
    .ending = ".anepkg",
    .summary = "a model: kernels, weights and host schedule, in a folder",
    .isFolder = true,
    .compile = ::compile,
};
