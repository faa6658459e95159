//===- CacheFlags.cpp - flags of models that are imported -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CacheFlags.h"
#include "anec/API/ModelCache.h"
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

/// `word` as a shell reads it again.
static std::string quoted(const std::string &word) {
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

/// The commands that a user would give.
static void printCommands(const TrainedModelSource &source,
                          const std::string &stem, int64_t context) {
  llvm::raw_ostream &out = llvm::errs();
  bool isGguf = llvm::StringRef(source.package).ends_with(".gguf");
  std::string model = quoted(source.package), program = quoted(stem + ".tdsl"),
              package = quoted(stem + ".anepkg"),
              words = isGguf ? quoted(stem + ".words") : model;
  out << "anec import " << model << " -o " << program;
  if (context)
    out << " --seq=" << context;
  if (isGguf)
    out << " --write-tokenizer=" << words;
  out << "\nanec " << program << " --weights=" << model
      << " --weight-map=" << quoted(stem + ".names.json") << " --decode -o "
      << package << "\nane-run generate " << package << " --tokenizer=" << words
      << '\n';
}

static bool canWrite(const std::string &folder) {
  return !fs::create_directories(folder) && fs::is_directory(folder) &&
         !fs::access(folder, fs::AccessMode::Write);
}

bool CacheFlags::prepare(TrainedModelSource &source, bool isQuiet,
                         Diagnostics &diags) const {
  if (!canImport(source.package))
    return true;
  ModelCacheOptions options{modelCacheFolder(), describeCompiler(), context};
  std::optional<CachePlace> place = findInCache(source.package, options, diags);
  if (!place)
    return false;
  if (!place->isReady && !canWrite(options.folder)) {
    temporary = TemporaryFolder::create(diags);
    if (!temporary)
      return false;
    if (!isQuiet)
      llvm::errs() << "note: " << options.folder
                   << " cannot be written, and nothing is kept; the "
                      "environment's ANEC_CACHE names another folder\n";
    options.folder = temporary->path().str();
    place = findInCache(source.package, options, diags);
    if (!place)
      return false;
  }
  if (verbose)
    printCommands(source, place->stem, context);
  if (!place->isReady && !isQuiet)
    llvm::errs() << "compiling " << source.package << " to " << place->stem
                 << ".anepkg" << (temporary ? "" : ", for later runs too")
                 << '\n';
  std::optional<ReadyModel> ready = readyModel(source.package, options, diags);
  if (!ready)
    return false;
  source.package = ready->package;
  if (source.tokenizer.empty())
    source.tokenizer = ready->tokenizer;
  return true;
}
