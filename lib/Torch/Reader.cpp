//===- Reader.cpp - archives of torch.export to IR ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Torch/Reader.h"
#include "Functionalize.h"
#include "GraphReader.h"
#include "ModelArchive.h"
#include "StackTrace.h"
#include "anec/MIL/ModelDescription.h"
#include "lib/Torch/Diags.h"

using namespace anec;
using namespace anec::torch;

/// Removes ops that nothing uses.
static void removeUnused(Function &function) {
  for (auto at = function.body().rbegin(); at != function.body().rend();) {
    Op &op = *at++;
    if (!op.def().has(trait::SideEffect) &&
        llvm::none_of(op.resultValues(),
                      [](Value *result) { return result->hasUses(); }))
      op.erase();
  }
}

/// Reads a model of the archive as a function of `module`.
static bool readModel(ModelArchive &archive, StringRef model, StringRef name,
                      Module &module, mil::RequestedShapes &shapes,
                      onnx::FixedInputs &inputs, const MILReadOptions &options,
                      Diagnostics &diags) {
  Program program;
  if (!archive.readProgram(model, program, options.defersChecksums, diags))
    return false;
  FunctionalizeError error;
  if (!functionalize(program, error)) {
    Listing listing(archive.path(), diags);
    std::string words = "in the graph";
    if (error.node)
      words = "node (" + error.node->target.str() + ")";
    SourceRange range = listing.add(words);
    auto report = diags.report(range, diag::TorchNode, error.message);
    if (std::string line = error.node ? placeOf(*error.node) : "";
        !line.empty())
      report.note(range, diag::TorchLine, line);
    return false;
  }
  Function *function = module.addFunction(FunctionKind::Kernel, name);
  GraphReader reader(program, archive.path(), archive.weightsOf(model), shapes,
                     inputs, archive.fileSize(), options.sourceWeights.get(),
                     diags);
  reader.defersChecksums = options.defersChecksums;
  if (!reader.read(*function))
    return false;
  removeUnused(*function);
  return true;
}

std::unique_ptr<Module> anec::readTorch(StringRef path, Diagnostics &diags,
                                        const MILReadOptions &options) {
  ModelArchive archive(path);
  if (!archive.open(diags))
    return nullptr;
  std::vector<StringRef> models = archive.models();
  // The only model of an archive is `main`.
  bool isOnly = models.size() == 1;
  if (isOnly)
    models.front() = "main";
  if (!options.function.empty() && !(isOnly && options.function == "main")) {
    if (!llvm::is_contained(archive.models(), options.function)) {
      std::string names;
      for (StringRef name : models)
        names += (names.empty() ? "`" : ", `") + name.str() + "`";
      diags.reportFile(path, diag::TorchNoModel, options.function, names);
      return nullptr;
    }
    if (!isOnly)
      models = {options.function};
  }
  mil::RequestedShapes shapes(options.shapes, options.values);
  onnx::FixedInputs inputs;
  for (const InputValue &value : options.values)
    if (!value.isFixed)
      inputs.given[value.name] = value.value;
  size_t errors = diags.errorCount();
  while (true) {
    auto module = std::make_unique<Module>();
    inputs.changed = false;
    bool read = true;
    for (StringRef model : models)
      read = read && readModel(archive, isOnly ? archive.models()[0] : model,
                               model, *module, shapes, inputs, options, diags);
    if (inputs.changed && diags.errorCount() == errors)
      continue;
    if (!read)
      return nullptr;
    if (options.description) {
      options.description->metadata.emplace_back(
          "producer", "PyTorch " + archive.torchVersion());
      for (const std::unique_ptr<Function> &function : module->functions)
        options.description->of(function->name);
    }
    shapes.reportUnused(diags);
    return diags.errorCount() == errors ? std::move(module) : nullptr;
  }
}
