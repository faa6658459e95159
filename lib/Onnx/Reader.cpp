//===- Reader.cpp - ONNX models to IR -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Onnx/Reader.h"
#include "GraphReader.h"
#include "anec/MIL/ModelDescription.h"
#include "lib/Onnx/Diags.h"

using namespace anec;
using namespace anec::onnx;

/// Removes ops that nothing uses.
static void removeUnused(Function &function) {
  for (auto at = function.body().rbegin(); at != function.body().rend();) {
    Op &op = *at++;
    if (llvm::none_of(op.resultValues(),
                      [](Value *result) { return result->hasUses(); }))
      op.erase();
  }
}

static void describeModel(const proto::Model &model, const Function &function,
                          ModelDescription &description) {
  if (!model.producerName.empty())
    description.metadata.emplace_back(
        "producer",
        StringRef((model.producerName + " " + model.producerVersion).str())
            .rtrim()
            .str());
  ;
  for (const proto::StringEntry &entry : model.metadata)
    description.metadata.emplace_back(entry.key, entry.value);
  description.of(function.name);
}

std::unique_ptr<Module> anec::readOnnx(llvm::StringRef path, Diagnostics &diags,
                                       const MILReadOptions &options) {
  MappedFile file = mapFile(path, diags);
  if (!file)
    return nullptr;
  proto::Model model;
  if (!protobuf::parse(bytesOf(*file), model) ||
      (model.irVersion == 0 && !model.graph.has())) {
    diags.reportFile(path, diag::OnnxMessage);
    return nullptr;
  }
  if (!model.graph.has()) {
    diags.reportFile(path, diag::OnnxNoGraph);
    return nullptr;
  }
  TensorReader tensors(path, file, diags);
  mil::RequestedShapes shapes(options.shapes, options.values);
  FixedInputs inputs;
  for (const InputValue &value : options.values)
    if (!value.isFixed)
      inputs.given[value.name] = value.value;
  size_t errors = diags.errorCount();
  while (true) {
    auto module = std::make_unique<Module>();
    Function *function = module->addFunction(FunctionKind::Kernel, "main");
    inputs.changed = false;
    GraphReader reader(model, path, tensors, shapes, inputs,
                       options.sourceWeights.get(), diags);
    bool read = reader.read(*function);
    if (inputs.changed && diags.errorCount() == errors)
      continue;
    if (!read)
      return nullptr;
    removeUnused(*function);
    if (options.description)
      describeModel(model, *function, *options.description);
    shapes.reportUnused(diags);
    return diags.errorCount() == errors ? std::move(module) : nullptr;
  }
}
