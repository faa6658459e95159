//===- PreparedModel.cpp - modules that Core ML can have ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PreparedModel.h"
#include "Definitions.h"
#include "Inference.h"
#include "Interface.h"
#include "Opsets.h"
#include "lib/CoreML/Diags.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/OpDef.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace anec;
using namespace anec::coreml;
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

/// Whether the opset of `deployment` has the op with its arguments. Adds what
/// it reports to `reported`.
static bool checkOpset(const Op &op, const Deployment &deployment,
                       llvm::SmallPtrSetImpl<const OpDef *> &reported,
                       Diagnostics &diags) {
  OpsetRange opsets = opsetsOf(op);
  unsigned opset = opsetNumber(deployment);
  if (opset >= opsets.first && opset <= opsets.last)
    return true;
  if (!reported.insert(&op.def()).second)
    return false;
  if (opset < opsets.first)
    diags.report(op.range(), diag::OpDeployment, op.def().name,
                 "ios" + std::to_string(opsets.first), deployment.macOS,
                 deployment.iOS);
  else
    diags.report(op.range(), diag::OldForm, op.def().name,
                 "ios" + std::to_string(opsets.last), deployment.macOS,
                 deployment.iOS);
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
    for (const auto &block : blocksOf(op))
      ok &= checkFunction(*block, deployment, diags);
    for (const Value *result : op.resultValues())
      ok &= checkValue(*result, deployment, diags);
    ok &= checkOpset(op, deployment, reported, diags) &&
          checkDefinition(op, diags);
  }
  return ok && checkInference(function, diags);
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

/// Whether the deployment has images of half floats, where there are some.
static bool checkImages(const Module &module, const ModelDescription &known,
                        const Deployment &deployment, Diagnostics &diags) {
  auto isHalf = [](const FeatureDescription &feature) {
    return feature.image && feature.image->colors == ColorSpace::GrayFloat16;
  };
  for (const auto &function : module.functions) {
    const FunctionDescription *described = known.find(function->name);
    if (deployment.specification >= 7 || !described ||
        !(llvm::any_of(described->inputs, isHalf) ||
          llvm::any_of(described->outputs, isHalf)))
      continue;
    diags.report(function->range, diag::HalfDeployment, deployment.macOS);
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Takes the classifiers from the ends of the functions, and gives inputs and
/// outputs types that features can have.
static llvm::StringMap<Classifier> fit(Module &module,
                                       const Deployment &deployment,
                                       const CoreMLWriteOptions &options,
                                       const ModelDescription &known) {
  llvm::StringMap<Classifier> classifiers;
  for (const auto &function : module.functions) {
    const FunctionDescription *described = known.find(function->name);
    std::optional<Classifier> classifier;
    if (described)
      classifier = takeClassifier(*function, *described);
    fitInterface(*function, deployment, options.floats, described,
                 classifier ? &*classifier : nullptr);
    if (classifier)
      classifiers[function->name] = std::move(*classifier);
  }
  return classifiers;
}

std::optional<PreparedModel>
PreparedModel::prepare(Module &module, const CoreMLWriteOptions &options,
                       Diagnostics &diags) {
  const Deployment &deployment =
      options.deployment ? *options.deployment : declared(module);
  if (options.floats == DType::FP16 && deployment.specification < 7) {
    diags.report(module.functions[0]->range, diag::HalfDeployment,
                 deployment.macOS);
    return std::nullopt;
  }
  static const ModelDescription unknown;
  const ModelDescription &known =
      options.description ? *options.description : unknown;
  llvm::StringMap<Classifier> classifiers =
      fit(module, deployment, options, known);
  if (!checkModule(module, deployment, diags) ||
      !checkImages(module, known, deployment, diags))
    return std::nullopt;
  MILPrintOptions print;
  print.version = deployment.specification < 9 ? "1.0" : "1.3";
  print.opset = deployment.iOS.str();
  print.executor = options.executor;
  print.written = options.written;
  std::optional<PlacedMIL> placed = PlacedMIL::place(module, print, diags);
  if (!placed)
    return std::nullopt;
  return PreparedModel{module, deployment, known, std::move(classifiers),
                       std::move(*placed)};
}

proto::ModelDescription PreparedModel::emit(mil::ProgramSink &sink) const {
  DescriptionWriter description(sink, known, classifiers);
  placed.emit(description);
  return description.describe();
}

std::vector<std::pair<std::string, std::string>>
PreparedModel::buildInfo() const {
  // The description says which version of anec wrote it.
  return module.buildInfo;
}
