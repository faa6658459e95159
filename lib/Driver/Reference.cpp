//===- Reference.cpp - the model that a program was made of ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Driver/Reference.h"
#include "Stages.h"
#include "lib/API/SourceModel.h"
#include "lib/Runtime/ProgramRun.h"

using namespace anec;

/// Compiles a program in the tensor language to one that the interpreter takes,
/// in its own precision, with the inputs of its Core ML package.
static std::unique_ptr<Module> compileReference(llvm::StringRef file,
                                                const CompileOptions &options,
                                                Diagnostics &diags) {
  BuildRequest request;
  request.input = file.str();
  request.options = options;
  request.options.precision = DType::FP32;
  BuildResult result;
  request.options.description = &result.description;
  std::optional<Source> source = openSource(file, diags);
  std::unique_ptr<Module> module =
      source ? readForCompiling(*source, request.options, diags) : nullptr;
  std::optional<CompiledProgram> program =
      module ? compileProgram(std::move(module), request, /*isCoreML=*/true,
                              result, diags)
             : std::nullopt;
  if (!program)
    return nullptr;
  if (program->program->functions.size() == 1)
    program->declared.restore(*program->program->functions.front());
  return program->readBack(diags);
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
  SourceStage stage = sourceFormat(file).stage;
  options.onlyDefaultFunction = true;
  // Several functions have the names of the program's.
  if (stage == SourceStage::MIL)
    options.function = function.str();
  loaded.module = stage == SourceStage::Program
                      ? compileReference(file, options, diags)
                      : readSourceFile(file, options, diags);
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
