//===- Reference.cpp - the model that a program was made of ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Driver/Reference.h"
#include "lib/Driver/Build.h"
#include "lib/Runtime/ProgramRun.h"

using namespace anec;

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
anec::loadReference(llvm::StringRef file, CompileOptions options,
                    llvm::StringRef function, const Function &program,
                    llvm::ArrayRef<std::string> inputs, Diagnostics &diags) {
  for (InputShape &shape : options.shapes)
    shape.isHint = true; // The names are the program's.
  for (const auto &param : program.parameters())
    options.shapes.push_back({param->name, param->type.shape, /*isHint=*/true});
  appendFiles(inputs, options.shapes, options.values);
  LoadedReference loaded;
  std::string path = file.str();
  if (sourceFormat(path).stage == SourceStage::Program) {
    loaded.folder = TemporaryFolder::create(diags);
    if (!loaded.folder)
      return std::nullopt;
    std::optional<std::string> compiled =
        compileReference(file, options, *loaded.folder, diags);
    if (!compiled)
      return std::nullopt;
    path = *compiled;
  }
  options.onlyDefaultFunction = true;
  // Several functions have the names of the program's.
  if (sourceFormat(path).stage == SourceStage::MIL)
    options.function = function.str();
  loaded.module = readSourceFile(path, options, diags);
  if (!loaded.module)
    return std::nullopt;
  const Function *found =
      loaded.module->functions.size() == 1
          ? loaded.module->functions.front().get()
          : findFunctionToRun(*loaded.module, function, diags);
  if (!found || !hasWeightValues(*found, diags))
    return std::nullopt;
  loaded.source = {found, file.str()};
  return loaded;
}
