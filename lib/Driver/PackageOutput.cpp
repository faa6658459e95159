//===- PackageOutput.cpp - a model as a package ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"

using namespace anec;

static bool compileToPackage(std::unique_ptr<Module> module,
                             const BuildRequest &request,
                             const OutputPlace &place, BuildResult &result,
                             Diagnostics &diags) {
  return compileModel(std::move(module), modelOptions(request), place.path,
                      diags, &result.reports);
}

constinit const OutputFormat outputs::Package = {
    .name = "package",
    .ending = ".anepkg",
    .summary = "a folder with a model's kernels, weights and host schedule",
    .isFolder = true,
    .takes = requests::weights | requests::chip | requests::models |
             requests::decoding | requests::objective | requests::quantizing |
             RequestFlags{RequestFlag::Passes, RequestFlag::MILVersion},
    .takesWithLoss = {RequestFlag::Precision},
    .compile = compileToPackage,
};
