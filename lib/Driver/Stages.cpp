//===- Stages.cpp - how far a source is compiled --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "anec/API/WholeModel.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

std::optional<CompiledProgram>
anec::compileKernel(std::unique_ptr<Module> module, const BuildRequest &request,
                    BuildResult &result, Diagnostics &diags) {
  const SourceFormat &format = sourceFormat(request.input);
  CompileOptions options = request.options;
  options.passes.passes = request.passesOr(
      withPrecision(kernelPipeline(format, options.passes), options));
  return compile(std::move(module), format, options, diags, &result.reports);
}

/// Whether the program is made of a model. Programs that decode always are: it
/// is an error that `module` has none.
static bool isOfModel(const Module &module, const BuildRequest &request,
                      bool isCoreML) {
  return request.options.cachesAreStates ||
         (isCoreML &&
          isModel(module, sourceFormat(request.input), request.options));
}

/// What a Core ML package is unless another is asked for.
static void chooseForCoreML(BuildRequest &request) {
  CompileOptions &options = request.options;
  if (!options.precision && !request.hasPasses &&
      sourceFormat(request.input).isOfTraining)
    options.precision = DType::FP16;
  const Deployment *deployment = options.coreML.deployment;
  options.passes.takesMixedTypes =
      !deployment || deployment->specification >= 8;
}

std::optional<CompiledProgram>
anec::compileProgram(std::unique_ptr<Module> module, const BuildRequest &given,
                     bool isCoreML, BuildResult &result, Diagnostics &diags) {
  BuildRequest request = given;
  if (isCoreML)
    chooseForCoreML(request);
  if (!isOfModel(*module, request, isCoreML))
    return compileKernel(std::move(module), request, result, diags);
  CompileOptions options = request.options;
  options.passes.passes =
      request.passesOr(withPrecision(wholeModelPasses(options), options));
  return compileWholeModel(std::move(module), options, result.description,
                           diags, &result.reports);
}

CompileOptions anec::modelOptions(const BuildRequest &request) {
  CompileOptions options = request.options;
  options.passes.passes =
      request.passesOr(modelPipeline(options.modelPipelineOptions()));
  return options;
}
