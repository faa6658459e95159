//===- ReferenceFlags.cpp - flags for a model to compare with -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ReferenceFlags.h"
#include "anec/Driver/Build.h"
#include "anec/Runtime/InputArrays.h"
#include "anec/Runtime/ProgramRun.h"

using namespace anec;

std::string ReferenceFlags::check() const {
  if (isGiven() && file.empty())
    return "--reference takes a file";
  if (isGiven() && sourceFormat(file).stage == SourceStage::Package)
    return "--reference takes a model, and " + file +
           " is compiled; give what it was compiled from";
  if (!defines.defines.empty() &&
      (!isGiven() || sourceFormat(file).stage != SourceStage::Program))
    return "--define is for a .tdsl program in --reference";
  return defines.check();
}

/// Compiles a program in the tensor language to one that the interpreter takes,
/// in its own precision, as its package would be. Returns the path.
static std::optional<std::string>
compileReference(llvm::StringRef file, const CompileOptions &options,
                 const TemporaryFolder &folder, Diagnostics &diags) {
  BuildRequest request;
  request.input = file.str();
  request.options = options;
  request.options.precision = DType::FP32;
  BuildResult result;
  std::string path = folder.file("reference.mlpackage");
  if (!build(request, outputs::CoreML, {path}, result, diags))
    return std::nullopt;
  return path;
}

std::optional<LoadedReference>
ReferenceFlags::load(const LoadedProgram &program, const ProgramFlags &flags,
                     llvm::ArrayRef<std::string> inputs,
                     const WeightOptions &weights, Diagnostics &diags) const {
  CompileOptions options;
  options.weights = weights;
  options.defines = defines.pairs();
  options.shapes = flags.shapes.values();
  options.values = flags.fixed.values();
  for (InputShape &shape : options.shapes)
    shape.isHint = true; // The names are the program's.
  for (const auto &param : program.function->parameters())
    options.shapes.push_back({param->name, param->type.shape, /*isHint=*/true});
  appendFiles(inputs, options.shapes, options.values);
  LoadedReference loaded;
  std::string path = file;
  if (sourceFormat(path).stage == SourceStage::Program) {
    loaded.folder = TemporaryFolder::create(diags);
    if (!loaded.folder)
      return std::nullopt;
    std::optional<std::string> compiled =
        compileReference(file.getValue(), options, *loaded.folder, diags);
    if (!compiled)
      return std::nullopt;
    path = *compiled;
  }
  options.onlyDefaultFunction = true;
  // Several functions have the names of the program's.
  if (sourceFormat(path).stage == SourceStage::MIL)
    options.function = flags.function;
  loaded.module = readSourceFile(path, options, diags);
  if (!loaded.module)
    return std::nullopt;
  const Function *function =
      loaded.module->functions.size() == 1
          ? loaded.module->functions.front().get()
          : findFunctionToRun(*loaded.module, flags.function, diags);
  if (!function || !hasWeightValues(*function, diags))
    return std::nullopt;
  loaded.source = {function, file};
  return loaded;
}
