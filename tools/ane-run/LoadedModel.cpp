//===- LoadedModel.cpp - a language model to write with -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LoadedModel.h"
#include "GenerateFlags.h"
#include "anec/API/ModelCache.h"
#include "anec/Formats/Source.h"
#include "anec/Generate/Diags.h"
#include "anec/Generate/OpenTextModel.h"
#include "anec/Generate/StatefulModel.h"
#include "anec/Runtime/ProgramRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;

/// Opens a program whose functions keep a text in states.
static std::unique_ptr<TextModel> openProgram(llvm::StringRef path,
                                              Backend &backend,
                                              LoadOptions load,
                                              Diagnostics &diags) {
  std::unique_ptr<Module> module = readSourceFile(path, {}, diags);
  if (!module || !llvm::all_of(module->functions, [&](const auto &function) {
        return hasWeightValues(*function, diags);
      }))
    return nullptr;
  load.milVersion = module->version;
  return openStatefulModel(std::move(module), path, backend, load, diags);
}

/// Reports what cannot be a model at all.
static bool isModel(llvm::StringRef path, Diagnostics &diags) {
  if (!llvm::sys::fs::exists(path)) {
    diags.reportFile(path, diag::CannotOpen, "No such file or directory");
    return false;
  }
  bool isKnown = isProgram(path) || canImport(path) ||
                 llvm::sys::fs::exists(path + "/manifest.json");
  if (!isKnown)
    diags.reportFile(path, diag::NotAModel);
  return isKnown;
}

bool LoadedModel::load(TrainedModelSource source, llvm::StringRef function,
                       const CacheFlags &cache, bool isQuiet, Backend &backend,
                       LoadOptions options, Diagnostics &diags) {
  if (!isModel(source.package, diags) || !cache.prepare(source, isQuiet, diags))
    return false;
  std::string model = source.package;
  trained = TrainedModel::read(std::move(source), diags);
  if (!trained)
    return false;
  if (isProgram(model)) {
    text = openProgram(model, backend, options, diags);
    return text != nullptr;
  }
  session = trained->open(backend, options, diags);
  if (!session)
    return false;
  text = openTextModel(*session, function, diags);
  return text != nullptr;
}

bool LoadedModel::guessesTooFew() const {
  return trained->guessesBytes() &&
         text->vocabulary() > tokenizer()->vocabulary();
}

bool LoadedModel::hasFittingTokenizer(llvm::StringRef path,
                                      Diagnostics &diags) const {
  if (!guessesTooFew())
    return true;
  diags.reportFile(path, diag::BytesOfLarger, int64_t(text->vocabulary()));
  return false;
}

bool LoadedModel::marksBeginning(llvm::StringRef path) const {
  if (!tokenizer() || !canImport(path))
    return false;
  std::vector<int32_t> markers = tokenizer()->withMarkers({});
  return !markers.empty() && tokenizer()->beginning() == markers.front();
}
