//===- Reader.cpp - Core ML models to IR ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/CoreML/Reader.h"
#include "Description.h"
#include "Package.h"
#include "PipelineReader.h"
#include "ProgramReader.h"
#include "lib/CoreML/Diags.h"
#include "lib/Support/ReadFile.h"
#include <unistd.h>

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The part of a pipeline that `wanted` numbers; null, with the reason
/// reported, when there is none, or it is no program.
static const ModelParts *choosePart(const ModelParts &model, uint64_t wanted,
                                    StringRef path, Diagnostics &diags) {
  if (!model.kind->isPipeline()) {
    diags.reportFile(path, diag::NotAPipeline, model.kind->name);
    return nullptr;
  }
  std::string all;
  for (const ModelParts *part : model.leaves()) {
    if (part->number == wanted) {
      if (part->kind->isProgram())
        return part;
      Listing listing(path, diags);
      diags.report(listing.add("in part " + std::to_string(wanted)),
                   diag::PartKind, part->kind->name, part->kind->reason);
      return nullptr;
    }
    all += (all.empty() ? "" : ", ") + std::to_string(part->number) + " (`" +
           part->kind->name.str() + "`)";
  }
  diags.reportFile(path, diag::NoSuchPart, wanted, all);
  return nullptr;
}

static void describeParts(const ModelParts &model,
                          anec::ModelDescription &description) {
  if (model.kind->isPipeline())
    for (const ModelParts *part : model.leaves())
      description.parts.push_back({part->name, part->kind->name.str()});
}

static std::unique_ptr<Module> readModel(std::optional<ModelFiles> files,
                                         const OpTable &ops, Diagnostics &diags,
                                         MILReadOptions &options) {
  size_t errors = diags.errorCount();
  std::optional<ModelParts> model =
      files ? ModelParts::split(bytesOf(*files->model), files->modelPath, diags)
            : std::nullopt;
  if (!model)
    return nullptr;
  const ModelParts *chosen = &*model;
  if (options.part)
    chosen = choosePart(*model, *options.part, files->modelPath, diags);
  if (!chosen)
    return nullptr;
  if (!chosen->kind->isPipeline() && !chosen->kind->isProgram()) {
    diags.reportFile(files->modelPath, diag::ModelKind, chosen->kind->name,
                     chosen->kind->reason);
    return nullptr;
  }
  ModelDescription unused;
  if (!options.description)
    options.description = &unused;
  describeModel(chosen->description, *options.description);
  describeParts(*model, *options.description);

  auto module = std::make_unique<Module>();
  module->version = "1.0";
  Listing listing(files->modelPath, diags);
  ValueReader values(std::move(files->weights), files->weightPath, options,
                     diags);
  PartReader reader{ops, values, listing, diags};
  bool read = false;
  if (chosen->kind->isPipeline()) {
    read = PipelineReader(reader, options, *chosen, *module).read();
    mil::RequestedShapes({}, options.values).reportUnused(diags);
  } else {
    reader.fixed = options.values;
    std::string function = options.function;
    if (function.empty() && options.onlyDefaultFunction)
      function = options.description->defaultFunction;
    std::string place =
        options.part ? "part " + std::to_string(*options.part) + ", " : "";
    read = reader.read(*chosen, function, place, options.shapes, true, *module,
                       *options.description);
  }
  return read && diags.errorCount() == errors ? std::move(module) : nullptr;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::unique_ptr<Module> anec::readCoreMLPackage(StringRef path,
                                                const OpTable &ops,
                                                Diagnostics &diags,
                                                MILReadOptions options) {
  return readModel(openPackage(path, diags), ops, diags, options);
}

std::unique_ptr<Module> anec::readCoreMLModel(StringRef path,
                                              const OpTable &ops,
                                              Diagnostics &diags,
                                              MILReadOptions options) {
  return readModel(openModel(path, diags), ops, diags, options);
}

/// A model begins with its version, a small number, and its description or its
/// program.
bool anec::isCoreMLModel(StringRef path) {
  std::string error;
  int descriptor = openRegularFile(path, error);
  if (descriptor < 0)
    return false;
  uint8_t first[3] = {};
  ssize_t size = ::read(descriptor, first, sizeof first);
  ::close(descriptor);
  return size == sizeof first && first[0] == 0x08 && first[1] > 0 &&
         first[1] < 0x20 && first[2] == 0x12;
}
