//===- CoreMLOutput.cpp - Core ML packages and compiled models ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "anec/API/Diags.h"
#include "anec/CoreML/WantedDescription.h"
#include "anec/Package/ModelPackage.h"

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

/// What keeps a package from having the several shapes that inputs of its
/// source can have; empty when it can.
static std::string losesShapes(const BuildRequest &request) {
  const CompileOptions &options = request.options;
  const SourceFormat &format = sourceFormat(request.input);
  if (!format.isOfCoreML || !format.textFile.empty())
    return "only of a package or model are they kept";
  if (!request
           .passesOr(
               withPrecision(kernelPipeline(format, options.passes), options))
           .empty())
    return "passes, and those of `--target`, make programs of one shape";
  if (options.quantization && options.quantization->activations)
    return "inputs of products are quantized for one shape";
  if (options.part || !options.function.empty() || !options.kernel.empty())
    return "a part of the source is taken";
  if (options.coreML.floats || options.coreML.deployment)
    return "`--interface` and `--deployment` change its operations";
  if (const WantedDescription *wanted = options.coreML.wanted.get();
      wanted && (wanted->classifier || !wanted->inputs.empty() ||
                 !wanted->outputs.empty()))
    return "`--describe` changes its inputs and outputs";
  return "";
}

/// The inputs that can have several shapes, as they are in messages.
static std::string flexibleInputs(const ModelDescription &description) {
  std::string names;
  for (const FunctionDescription &function : description.functions)
    for (const FeatureDescription &input : function.inputs)
      if (input.hasSeveralShapes)
        names += (names.empty() ? "`" : ", `") + input.name + "`";
  return names;
}

/// Lets inputs have the shapes that they can have in the source, or says that
/// they cannot. A shape that was asked for is the only one.
static void keepShapes(const BuildRequest &request, bool isCompiled,
                       const ModelDescription &description,
                       CoreMLOptions &options, Diagnostics &diags) {
  std::string inputs = flexibleInputs(description);
  if (inputs.empty() || !request.options.shapes.empty() ||
      !request.options.values.empty())
    return;
  std::string reason =
      isCompiled ? "compiled models of anec have one" : losesShapes(request);
  if (reason.empty())
    options.shapesOf = request.input;
  else
    diags.reportFile(request.input, diag::ShapesLost, inputs, reason);
}

template <WriteCoreML write>
static bool compile(std::unique_ptr<Module> module, const BuildRequest &request,
                    const OutputPlace &place, BuildResult &result,
                    Diagnostics &diags) {
  std::optional<CompiledProgram> program = compileProgram(
      std::move(module), request, /*isCoreML=*/true, result, diags);
  if (!program)
    return false;
  CoreMLOptions options = optionsOf(request);
  keepShapes(request, write == &CompiledProgram::writeCompiledCoreML,
             result.description, options, diags);
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
static bool show(const ModelPackage &package, const BuildRequest &request,
                 const OutputPlace &place, Diagnostics &diags) {
  std::unique_ptr<Module> module = readKernels(package, diags);
  if (!module)
    return false;
  CompiledProgram program{.program = std::move(module)};
  return (program.*write)(place.path, optionsOf(request),
                          /*description=*/nullptr, diags);
}

constinit const OutputFormat outputs::CoreML = {
    .name = "coreml",
    .ending = ".mlpackage",
    .summary = "a package that Core ML loads",
    .isFolder = true,
    .isCoreML = true,
    .compile = ::compile<&CompiledProgram::writeCoreML>,
    .show = ::show<&CompiledProgram::writeCoreML>,
};

constinit const OutputFormat outputs::CompiledCoreML = {
    .name = "compiled-coreml",
    .ending = ".mlmodelc",
    .summary = "a folder like that of Core ML's compiler",
    .isFolder = true,
    .isCoreML = true,
    .compile = ::compile<&CompiledProgram::writeCompiledCoreML>,
    .show = ::show<&CompiledProgram::writeCompiledCoreML>,
};
