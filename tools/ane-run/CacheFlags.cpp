//===- CacheFlags.cpp - flags of models that are imported -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CacheFlags.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Train/Hyperparameters.h"
#include "lib/Import/ModelCache.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace anec;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string anec::modelCacheFolder() {
  if (const char *named = std::getenv("ANEC_CACHE"); named && *named)
    return named;
  llvm::SmallString<128> folder;
  if (!path::cache_directory(folder))
    return ".anec-cache"; // A process without a home.
  path::append(folder, "anec");
  return folder.str().str();
}

/// The size and the time of this program: another build compiles anew.
static std::string describeCompiler() {
  static int place = 0;
  std::string program = fs::getMainExecutable(nullptr, &place);
  fs::file_status status;
  if (fs::status(program, status))
    return "";
  auto time = status.getLastModificationTime().time_since_epoch();
  return std::to_string(status.getSize()) + " " + std::to_string(time.count());
}

std::string CacheFlags::check(llvm::StringRef path) const {
  bool isGiven = context.getNumOccurrences() || verbose;
  if (isGiven && !canImport(path))
    return "--context and --verbose are for a FOLDER or a GGUF file; a package "
           "was compiled for its positions";
  if (context.getNumOccurrences() && (context < 2 || context > 8192))
    return "--context takes a number of positions, from 2 to 8192";
  return "";
}

std::string anec::quoted(const std::string &word) {
  constexpr llvm::StringLiteral plain = "-_./=+,:@%";
  if (!word.empty() && llvm::all_of(word, [&](char character) {
        return llvm::isAlnum(character) || plain.contains(character);
      }))
    return word;
  std::string text = "'";
  for (char character : word)
    text +=
        character == '\'' ? std::string("'\\''") : std::string(1, character);
  return text + "'";
}

/// The positions that a package computes at a time: a number as text.
static std::string positionsOf(const std::string &path) {
  Diagnostics ignored;
  std::optional<ModelPackage> package =
      readPackage(path, ignored, PackageCheck::Presence);
  if (package)
    for (const auto &[name, value] : package->config)
      if (name == "seq")
        return value;
  return "";
}

/// The commands that a user would give to compile `ready`.
static void printCommands(llvm::StringRef source, const ReadyModel &ready,
                          const ModelCacheOptions &options) {
  llvm::raw_ostream &out = llvm::errs();
  std::string model = quoted(source.str()), program = quoted(ready.program),
              package = quoted(ready.package);
  out << "anec import " << model << " -o " << program;
  if (std::string positions = positionsOf(ready.package); !positions.empty())
    out << " --seq=" << positions;
  if (source.ends_with(".gguf") && !ready.tokenizer.empty())
    out << " --write-tokenizer=" << quoted(ready.tokenizer);
  out << "\nanec " << program;
  if (options.adapters)
    out << " --lora=rank=" << options.adapters->rank
        << ",alpha=" << formatNumber(options.adapters->alpha)
        << ",targets=" << quoted(llvm::join(options.adapters->targets, ":"));
  else
    out << " --weights=" << model << " --weight-map=" << quoted(ready.mapping)
        << " --decode" << (options.keepsIntegers ? " --quantize=exact" : "");
  out << " -o " << package << '\n';
}

static bool canWrite(const std::string &folder) {
  return !fs::create_directories(folder) && fs::is_directory(folder) &&
         !fs::access(folder, fs::AccessMode::Write);
}

std::optional<ReadyModel> CachedModels::ready(llvm::StringRef source,
                                              ModelCacheOptions options,
                                              bool isQuiet, bool isVerbose,
                                              Diagnostics &diags) {
  options.folder = modelCacheFolder();
  options.compiler = describeCompiler();
  std::optional<CachePlace> place = findInCache(source, options, diags);
  if (!place)
    return std::nullopt;
  if (!place->isReady && !canWrite(options.folder)) {
    temporary = TemporaryFolder::create(diags);
    if (!temporary)
      return std::nullopt;
    if (!isQuiet)
      llvm::errs() << "note: " << options.folder
                   << " cannot be written, and nothing is kept; the "
                      "environment's ANEC_CACHE names another folder\n";
    options.folder = temporary->path().str();
    place = findInCache(source, options, diags);
    if (!place)
      return std::nullopt;
  }
  if (!place->isReady && !isQuiet)
    llvm::errs() << "compiling " << showText(source) << " to "
                 << showText(place->stem) << ".anepkg"
                 << (temporary ? "" : ", for later runs too") << '\n';
  std::optional<ReadyModel> ready = readyModel(source, options, diags);
  if (ready && isVerbose)
    printCommands(source, *ready, options);
  return ready;
}

bool CacheFlags::prepare(TrainedModelSource &source, bool onProcessor,
                         bool isQuiet, Diagnostics &diags) const {
  if (!canImport(source.package))
    return true;
  std::string model = source.package;
  ModelCacheOptions options;
  options.context = context;
  bool isReplaced = !source.checkpoint.empty() || !source.weights.empty() ||
                    !source.adapter.empty();
  options.keepsIntegers =
      onProcessor && !isReplaced && llvm::StringRef(model).ends_with(".gguf");
  std::optional<ReadyModel> ready =
      models.ready(model, options, isQuiet, verbose, diags);
  if (!ready)
    return false;
  source.package = ready->package;
  if (verbose)
    llvm::errs() << "ane-run generate " << quoted(ready->package)
                 << " --tokenizer="
                 << quoted(ready->tokenizer.empty() ? model : ready->tokenizer)
                 << '\n';
  if (source.tokenizer.empty())
    source.tokenizer = ready->tokenizer;
  return true;
}
