//===- CoreMLOutput.cpp - Core ML packages and compiled models ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "anec/CoreML/WantedDescription.h"
#include "anec/Package/ModelPackage.h"
#include "lib/API/Diags.h"

using namespace anec;

/// Writes a program as a package or a compiled model.
using WriteCoreML = bool (CompiledProgram::*)(llvm::StringRef path,
                                              const CoreMLOptions &options,
                                              const ModelDescription *,
                                              Diagnostics &diags);

static CoreMLOptions optionsOf(const BuildRequest &request) {
  CoreMLOptions options = request.options.coreML;
  options.target = request.options.passes.target;
  options.assumptions = request.options.passes.assumptions;
  return options;
}

template <WriteCoreML write>
static bool compileToCoreML(std::unique_ptr<Module> module,
                            const BuildRequest &request,
                            const OutputPlace &place, BuildResult &result,
                            Diagnostics &diags) {
  std::optional<CompiledProgram> program = compileProgram(
      std::move(module), request, /*isCoreML=*/true, result, diags);
  if (!program)
    return false;
  CoreMLOptions options = optionsOf(request);
  const SourceFormat &format = sourceFormat(request.input);
  bool hasPasses =
      !request
           .passesOr(withPrecision(
               kernelPipeline(format, request.options.passes), request.options))
           .empty();
  SourceShapes(request.input, format, request.options, hasPasses,
               result.description)
      .keep(options, write == &CompiledProgram::writeCompiledCoreML, diags);
  bool ok =
      ((*program).*write)(place.path, options, &result.description, diags);
  result.module = std::move(program->program);
  return ok;
}

/// Reads all kernels of a package into one module: of a repeated layer, each
/// instance as a function of its own.
static std::unique_ptr<Module> readKernels(const ModelPackage &package,
                                           Diagnostics &diags) {
  auto all = std::make_unique<Module>();
  for (const PackagedKernel &kernel : package.kernels)
    for (const PackagedInstance &instance : kernel.instances) {
      std::unique_ptr<Module> one =
          loadKernel(package, kernel, instance, diags);
      if (!one)
        return nullptr;
      for (auto &function : one->functions) {
        function->name = kernel.name;
        if (instance.index)
          function->name += "_" + std::to_string(*instance.index);
        all->functions.push_back(std::move(function));
      }
      all->version = one->version;
    }
  return all;
}

template <WriteCoreML write>
static bool showCoreML(const ModelPackage &package, const BuildRequest &request,
                       const OutputPlace &place, Diagnostics &diags) {
  std::unique_ptr<Module> module = readKernels(package, diags);
  if (!module)
    return false;
  CompiledProgram program{.program = std::move(module)};
  return (program.*write)(place.path, optionsOf(request),
                          /*description=*/nullptr, diags);
}

static constexpr RequestFlags takenByCoreML =
    requests::weights | requests::chip | requests::quantizing |
    requests::coreML |
    RequestFlags{RequestFlag::Kernel, RequestFlag::Passes,
                 RequestFlag::Precision, RequestFlag::Lora};

constinit const OutputFormat outputs::CoreML = {
    .name = "coreml",
    .ending = ".mlpackage",
    .summary = "a package that Core ML loads",
    .isFolder = true,
    .isCoreML = true,
    .runs = RunsPasses::ToFit,
    .takes = takenByCoreML,
    .takesWithStates = requests::states,
    .shows = requests::chip | requests::coreML,
    .compile = compileToCoreML<&CompiledProgram::writeCoreML>,
    .show = showCoreML<&CompiledProgram::writeCoreML>,
};

constinit const OutputFormat outputs::CompiledCoreML = {
    .name = "compiled-coreml",
    .ending = ".mlmodelc",
    .summary = "a folder like that of Core ML's compiler",
    .isFolder = true,
    .isCoreML = true,
    .runs = RunsPasses::ToFit,
    .takes = takenByCoreML,
    .takesWithStates = requests::states,
    .shows = requests::chip | requests::coreML,
    .compile = compileToCoreML<&CompiledProgram::writeCompiledCoreML>,
    .show = showCoreML<&CompiledProgram::writeCompiledCoreML>,
};
