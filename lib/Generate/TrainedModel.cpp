//===- TrainedModel.cpp - a model that can generate text ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Generate/TrainedModel.h"
#include "lib/Generate/Diags.h"
#include "lib/Train/Diags.h"
#include "lib/Train/RunTokenizer.h"

using namespace anec;

/// Opens the tokenizer that was asked for, or the one that the model was
/// trained with.
bool TrainedModel::openTokenizerOfModel(Diagnostics &diags) {
  bool isOptional = !source.needsTokenizer && source.tokenizer.empty();
  if (!trained) {
    if (isOptional)
      return true;
    text = openTokenizer(source.tokenizer, diags);
    return text != nullptr;
  }
  const UsedTokenizer &used = trained->state.tokenizer;
  if (!used.isKnown()) {
    if (isOptional)
      return true;
    if (source.tokenizer.empty())
      diags.reportFile(trained->folder, diag::TokenizerNotKnown);
    else
      text = openTokenizer(source.tokenizer, diags);
    return text != nullptr;
  }
  std::string path = source.tokenizer.empty()
                         ? tokenizerOfRun(trained->folder, used)
                         : source.tokenizer;
  text = openTokenizer(path, diags);
  if (!text || text->digest() == used.digest)
    return text != nullptr;
  diags.reportFile(path.empty() ? source.checkpoint : path,
                   diag::OtherTokenizer,
                   used.path.empty() ? used.kind : used.path,
                   used.digest.empty() ? "none" : used.digest);
  return false;
}

std::optional<TrainedModel> TrainedModel::read(TrainedModelSource source,
                                               Diagnostics &diags) {
  TrainedModel model;
  model.source = std::move(source);
  if (!model.source.checkpoint.empty()) {
    model.trained = loadCheckpointWeights(model.source.checkpoint, diags);
    if (!model.trained)
      return std::nullopt;
  }
  if (!model.openTokenizerOfModel(diags))
    return std::nullopt;
  return model;
}

std::unique_ptr<Session> TrainedModel::open(Backend &backend,
                                            const LoadOptions &load,
                                            Diagnostics &diags) const {
  std::optional<ModelPackage> package =
      source.compiled ? readAgain(*source.compiled, diags)
                      : readPackage(source.package, diags);
  if (!package)
    return nullptr;
  if (trained) {
    std::string differences =
        compareModels(trained->state, *package, Positions::AnyNumber);
    if (!differences.empty()) {
      diags.reportFile(trained->folder, diag::OtherModel, differences);
      return nullptr;
    }
  }
  SessionOptions options;
  options.load = load;
  bool isWhole = trained && trained->state.base.empty();
  if (isWhole && !source.weights.empty()) {
    diags.reportFile(trained->folder, diag::CheckpointIsWhole);
    return nullptr;
  }
  options.weights.source = isWhole ? trained->weights() : source.weights;
  options.weights.adapter =
      trained && !isWhole ? trained->weights() : source.adapter;
  options.weights.mapping = source.mapping;
  bool isBaked = package->weightMode == WeightMode::Baked;
  if (isBaked && !(options.weights.source + options.weights.adapter).empty()) {
    diags.reportFile(source.package, diag::BakedWeights);
    return nullptr;
  }
  bool hasValues = isBaked || !package->values.empty();
  if (options.weights.source.empty() && !hasValues) {
    diags.reportFile(source.package, diag::NoWeights);
    return nullptr;
  }
  return Session::open(std::move(*package), backend, options, diags);
}
