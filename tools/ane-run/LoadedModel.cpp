//===- LoadedModel.cpp - a language model to write with -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LoadedModel.h"
#include "GenerateFlags.h"
#include "anec/Formats/Source.h"
#include "anec/Generate/OpenTextModel.h"
#include "anec/Generate/StatefulModel.h"
#include "lib/Generate/Diags.h"
#include "lib/Import/ModelCache.h"
#include "lib/Runtime/ProgramRun.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace fs = llvm::sys::fs;

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

/// The newest of the models in `path`, a folder of a hub's cache; empty if it
/// is none.
static std::string modelInHubCache(llvm::StringRef path) {
  std::string newest;
  llvm::sys::TimePoint<> time;
  std::error_code code;
  for (fs::directory_iterator it(path + "/snapshots", code), end;
       it != end && !code; it.increment(code)) {
    fs::file_status status;
    if (!fs::status(it->path(), status) && fs::is_directory(status) &&
        (newest.empty() || status.getLastModificationTime() > time)) {
      newest = it->path();
      time = status.getLastModificationTime();
    }
  }
  return newest;
}

/// Whether `path` has the form `OWNER/NAME`.
static bool isHubId(llvm::StringRef path) {
  auto [owner, name] = path.split('/');
  auto isWord = [](llvm::StringRef word) {
    return !word.empty() && llvm::all_of(word, [](char c) {
      return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.';
    }) && word.front() != '.';
  };
  return isWord(owner) && isWord(name);
}

void anec::reportNoModel(llvm::StringRef path, Diagnostics &diags) {
  if (!fs::exists(path)) {
    Diagnostics::Report report =
        diags.reportFile(path, diag::CannotOpen, "No such file or directory");
    if (isHubId(path))
      report.note({}, diag::ModelId, path, path.split('/').second);
    return;
  }
  Diagnostics::Report report = diags.reportFile(path, diag::NotAModel);
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (!folder.empty() && canImport(folder.str()))
    report.note({}, diag::ModelFolder, folder);
  if (std::string model = modelInHubCache(path); !model.empty())
    report.note({}, diag::HubCache, model);
}

static bool isModelFolder(llvm::StringRef path, Diagnostics &diags) {
  bool isKnown = fs::exists(path) && (isProgram(path) || canImport(path) ||
                                      fs::exists(path + "/manifest.json"));
  if (!isKnown)
    reportNoModel(path, diags);
  return isKnown;
}

bool LoadedModel::load(TrainedModelSource source, llvm::StringRef function,
                       const CacheFlags &cache, bool isQuiet, Backend &backend,
                       LoadOptions options, Diagnostics &diags) {
  if (!isModelFolder(source.package, diags) ||
      !cache.prepare(source, backend.name() == "cpu", isQuiet, diags))
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
