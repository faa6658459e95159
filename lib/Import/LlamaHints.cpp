//===- LlamaHints.cpp - what a model says of its weights ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Import/LlamaHints.h"
#include "anec/Formats/Source.h"
#include "anec/Package/ModelPackage.h"
#include "lib/IR/ParamNames.h"
#include "lib/Import/Diags.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Package/ScheduleWalk.h"
#include "lib/Train/Checkpoint.h"
#include <set>

using namespace anec;

/// Takes the sizes of the model from the entries of `config`.
static void
readHintSizes(llvm::ArrayRef<std::pair<std::string, std::string>> config,
              LlamaHints &hints) {
  for (const auto &[name, value] : config)
    if (int64_t number; !llvm::StringRef(value).getAsInteger(10, number))
      hints.sizes[name] = number;
}

/// Takes the model called `wanted` or, without a name, the only one of
/// `owners`.
static bool chooseModel(const std::set<std::string> &owners,
                        llvm::StringRef wanted, LlamaHints &hints,
                        Diagnostics &diags) {
  if (wanted.empty() && owners.empty())
    return true; // layers alone
  if (wanted.empty() ? owners.size() == 1 : owners.contains(wanted.str())) {
    hints.model = wanted.empty() ? *owners.begin() : wanted.str();
    return true;
  }
  std::string known;
  for (const std::string &owner : owners)
    known += (known.empty() ? "`" : ", `") + owner + "`";
  if (wanted.empty())
    diags.reportFile(hints.source, diag::SeveralModels, known);
  else
    diags.reportFile(hints.source, diag::NoSuchModel, wanted, known);
  return false;
}

/// The name of the model's separate classifier, if it has one.
static std::string classifierName(const LlamaHints &hints) {
  return llamaWeight(hints.model, WeightRole::Classifier).nameOf(0);
}

static bool readModule(const Module &module, llvm::StringRef wanted,
                       LlamaHints &hints, Diagnostics &diags) {
  std::set<std::string> owners;
  for (const Function *entry : entryPoints(module))
    owners.insert(entry->of().str());
  if (!chooseModel(owners, wanted, hints, diags))
    return false;
  readHintSizes(module.config, hints);
  hints.facts = ModelFacts::of(module);
  std::string classifier = classifierName(hints);
  hints.hasClassifier = false;
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (op.is(ops::Weight) && op.get(param::name) == classifier)
        hints.hasClassifier = true;
  return true;
}

static bool readManifest(const ModelPackage &package, llvm::StringRef wanted,
                         LlamaHints &hints, Diagnostics &diags) {
  std::set<std::string> owners;
  for (const PackagedEntry &entry : package.entries)
    owners.insert(entry.owner);
  if (!chooseModel(owners, wanted, hints, diags))
    return false;
  readHintSizes(package.config, hints);
  hints.facts = package.facts;
  hints.hasClassifier = package.findWeight(classifierName(hints)) != nullptr;
  return true;
}

LlamaHints anec::hintsOf(const TrainState &state) {
  LlamaHints hints;
  readHintSizes(state.config, hints);
  return hints;
}

std::optional<LlamaHints> anec::readLlamaHints(llvm::StringRef path,
                                               const ReadOptions &options,
                                               llvm::StringRef model,
                                               Diagnostics &diags) {
  LlamaHints hints;
  hints.source = path.str();
  if (sourceFormat(path).stage == SourceStage::Package) {
    std::optional<ModelPackage> package =
        readPackage(path, diags, PackageCheck::Presence);
    if (!package || !readManifest(*package, model, hints, diags))
      return std::nullopt;
    return hints;
  }
  std::unique_ptr<Module> module = readSourceFile(path, options, diags);
  if (!module || !readModule(*module, model, hints, diags))
    return std::nullopt;
  return hints;
}
