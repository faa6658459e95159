//===- Stages.cpp - how far a source is compiled --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"

using namespace anec;

std::optional<CompiledProgram>
anec::compileKernel(std::unique_ptr<Module> module, const BuildRequest &request,
                    BuildResult &result, Diagnostics &diags) {
  const SourceFormat &format = sourceFormat(request.input);
  CompileOptions options = request.options;
  options.passes.passes =
      request.passesOr(kernelPipeline(format, options.passes));
  return compile(std::move(module), format, options, diags, &result.reports);
}

CompileOptions anec::modelOptions(const BuildRequest &request) {
  CompileOptions options = request.options;
  options.passes.passes =
      request.passesOr(modelPipeline(options.modelPipelineOptions()));
  return options;
}
