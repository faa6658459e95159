//===- Writer.cpp - IR to Core ML packages --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/CoreML/Writer.h"
#include "DescriptionWriter.h"
#include "Interface.h"
#include "Opsets.h"
#include "PackageFolder.h"
#include "ProgramWriter.h"
#include "anec/CoreML/Diags.h"
#include "anec/IR/OpDef.h"
#include "anec/Ops/Ops.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Support/AtomicFolder.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <limits>

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The deployment
//===----------------------------------------------------------------------===//

/// The newest opset that a function declares.
static const Deployment &declared(const Module &module) {
  const Deployment *newest = &deployments().front();
  for (const auto &function : module.functions)
    if (const Deployment *row = deploymentOfOpset(function->opset))
      if (row->specification > newest->specification)
        newest = row;
  return *newest;
}

static unsigned opsetNumber(const Deployment &deployment) {
  unsigned number = 0;
  StringRef(deployment.iOS).substr(3).getAsInteger(10, number);
  return number;
}

/// Whether packages for `deployment` can have the value.
static bool checkValue(const Value &value, const Deployment &deployment,
                       Diagnostics &diags) {
  if (value.holder == Holder::Buffer)
    diags.report(value.range(), diag::NoBuffers, value.name);
  else if (value.holder == Holder::State && deployment.specification < 9)
    diags.report(value.range(), diag::StateDeployment, value.name,
                 deployment.macOS);
  else
    return true;
  return false;
}

/// Whether packages for `deployment` can have the function. Reports each op
/// that they cannot have, once.
static bool checkFunction(const Function &function,
                          const Deployment &deployment, Diagnostics &diags) {
  bool ok = true;
  for (const auto &parameter : function.parameters())
    ok &= checkValue(*parameter, deployment, diags);
  llvm::SmallPtrSet<const OpDef *, 8> reported;
  for (const Op &op : function.body()) {
    for (const Value *result : op.resultValues())
      ok &= checkValue(*result, deployment, diags);
    unsigned first = firstOpset(op);
    if (first <= opsetNumber(deployment) || !reported.insert(&op.def()).second)
      continue;
    diags.report(op.range(), diag::OpDeployment, op.def().name,
                 "ios" + std::to_string(first), deployment.macOS,
                 deployment.iOS);
    ok = false;
  }
  return ok;
}

static bool checkModule(const Module &module, const Deployment &deployment,
                        Diagnostics &diags) {
  bool ok = true;
  for (const auto &function : module.functions)
    ok &= checkFunction(*function, deployment, diags);
  bool isPlain = module.functions.size() == 1 &&
                 module.functions[0]->name == plainFunction;
  if (!isPlain && deployment.specification < 9) {
    diags.report(module.functions[0]->range, diag::FunctionsDeployment,
                 deployment.macOS);
    ok = false;
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static std::vector<std::pair<std::string, std::string>>
buildInfoOf(const Module &module) {
  if (!module.buildInfo.empty())
    return module.buildInfo;
  return {{"anec-version", ANEC_VERSION}};
}

static std::string
serializeModel(const Module &module, const PlacedMIL &placed,
               const Deployment &deployment, const ModelDescription &known,
               const llvm::StringMap<Classifier> &classifiers) {
  ProgramWriter program(deployment);
  DescriptionWriter description(program, known, classifiers);
  placed.emit(description);
  program.addBuildInfo(buildInfoOf(module));
  std::string model;
  appendTag(model, proto::model::SpecificationVersion, Wire::Varint);
  appendNumber(model, Wire::Varint, uint64_t(deployment.specification));
  appendBytes(model, proto::model::Description,
              serialize(description.describe()));
  appendBytes(model, proto::model::MLProgram, program.bytes());
  return model;
}

bool anec::writeCoreMLPackage(Module &module, StringRef path,
                              const CoreMLWriteOptions &options,
                              Diagnostics &diags) {
  const Deployment &deployment =
      options.deployment ? *options.deployment : declared(module);
  static const ModelDescription unknown;
  const ModelDescription &known =
      options.description ? *options.description : unknown;
  llvm::StringMap<Classifier> classifiers;
  for (const auto &function : module.functions) {
    const FunctionDescription *described = known.find(function->name);
    std::optional<Classifier> classifier;
    if (described)
      classifier = takeClassifier(*function, *described);
    fitInterface(*function, deployment, options.floats,
                 classifier ? &*classifier : nullptr);
    if (classifier)
      classifiers[function->name] = std::move(*classifier);
  }
  if (!checkModule(module, deployment, diags))
    return false;
  MILPrintOptions print;
  print.version = "1.3";
  print.opset = deployment.iOS.str();
  print.executor = options.executor;
  print.written = options.written;
  std::optional<PlacedMIL> placed = PlacedMIL::place(module, print, diags);
  if (!placed)
    return false;
  std::string model =
      serializeModel(module, *placed, deployment, known, classifiers);
  if (model.size() > size_t(std::numeric_limits<int32_t>::max())) {
    diags.reportFile(path, diag::ModelTooLarge, model.size());
    return false;
  }

  std::unique_ptr<AtomicFolder> folder =
      AtomicFolder::create(path, coreMLFolder(), diags);
  if (!folder)
    return false;
  AtomicFiles files(folder->folder(), diags);
  if (placed->needsWeightFile() &&
      !placed->addWeightFile("", weightFile, options.resolve, files, diags))
    return false;
  OutputFile *modelOut = files.add("", modelFile);
  OutputFile *manifest = modelOut ? files.add("", manifestFile) : nullptr;
  if (!manifest)
    return false;
  *modelOut << model;
  *manifest << manifestOf(model, placed->needsWeightFile());
  return files.commit() && folder->commit();
}
