//===- ModelCache.cpp - imported models, compiled once --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Import/ModelCache.h"
#include "anec/API/Compile.h"
#include "lib/Import/Import.h"
#include "lib/Support/AtomicFolder.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Digest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <sys/stat.h>

using namespace anec;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The endings of an entry. The package comes last, when all others are there;
/// its program has the time when it was used.
static constexpr llvm::StringLiteral programEnd = ".tdsl",
                                     namesEnd = ".names.json",
                                     wordsEnd = ".words",
                                     packageEnd = ".anepkg";

bool anec::canImport(StringRef source) {
  if (fs::is_directory(source))
    return fs::exists(source + "/config.json");
  return source.ends_with(".gguf") || source.ends_with(".bin");
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The files of a model, by path: the one file, or those of the folder.
static std::vector<std::string> filesOf(StringRef source) {
  if (!fs::is_directory(source))
    return {source.str()};
  std::vector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator it(source, code), end; it != end && !code;
       it.increment(code))
    if (fs::is_regular_file(it->path()))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

/// When a file was changed last, also where its own time was set back.
static int64_t changeOf(const std::string &file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0)
    return 0;
#if defined(__APPLE__)
  const timespec &changed = status.st_ctimespec;
#else
  const timespec &changed = status.st_ctim;
#endif
  return int64_t(changed.tv_sec) * 1000000000 + changed.tv_nsec;
}

/// The path without links; as it is given where it has none.
static std::string realPathOf(StringRef source) {
  llvm::SmallString<256> real;
  return fs::real_path(source, real) ? source.str() : real.str().str();
}

/// What a key is made of: the place of the model, names, sizes and times of the
/// files, the bytes of the small ones, and what was asked for.
static std::optional<std::string>
describeModel(StringRef source, const ModelCacheOptions &options,
              Diagnostics &diags) {
  constexpr uint64_t small = uint64_t(1) << 20;
  std::string text = options.compiler;
  llvm::raw_string_ostream out(text);
  out << '\0' << options.context << '\0' << realPathOf(source) << '\0';
  if (options.context == 0)
    out << options.mostContext << '\0';
  if (options.keepsIntegers)
    out << "exact" << '\0';
  if (options.adapters) {
    out << options.adapters->rank << '\0' << options.adapters->alpha << '\0';
    for (const std::string &target : options.adapters->targets)
      out << target << '\0';
  }
  for (const std::string &file : filesOf(source)) {
    fs::file_status status;
    std::error_code code = fs::status(file, status);
    if (code) {
      diags.reportFile(file, diag::CannotOpen, code.message());
      return std::nullopt;
    }
    out << path::filename(file) << '\0' << status.getSize() << '\0'
        << status.getLastModificationTime().time_since_epoch().count() << '\0'
        << changeOf(file) << '\0';
    if (status.getSize() > small)
      continue;
    auto bytes = llvm::MemoryBuffer::getFile(file, false, false);
    if (!bytes) {
      diags.reportFile(file, diag::CannotOpen, bytes.getError().message());
      return std::nullopt;
    }
    out << (*bytes)->getBuffer();
  }
  return text;
}

/// `Qwen3-0.6B`, in characters that every file system takes.
static std::string nameOf(StringRef source) {
  std::string real = realPathOf(source);
  StringRef last = path::filename(real);
  std::string name = (last.ends_with(".gguf") ? last.drop_back(5) : last).str();
  for (char &character : name)
    if (!llvm::isAlnum(character) && !StringRef("-_.").contains(character))
      character = '_';
  return name.substr(0, 80);
}

std::optional<CachePlace> anec::findInCache(StringRef source,
                                            const ModelCacheOptions &options,
                                            Diagnostics &diags) {
  std::optional<std::string> what = describeModel(source, options, diags);
  if (!what)
    return std::nullopt;
  std::string key = blake3(llvm::arrayRefFromStringRef(*what)).substr(0, 16);
  llvm::SmallString<256> stem(options.folder);
  path::append(stem, nameOf(source) + "-" + key);
  CachePlace place{stem.str().str()};
  place.isReady = fs::exists(place.stem + packageEnd + "/manifest.json");
  return place;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The size of the files of a folder, or of one file.
static uint64_t sizeOnDisk(const std::string &where) {
  uint64_t bytes = 0;
  if (!fs::is_directory(where))
    return fs::file_size(where, bytes) ? 0 : bytes;
  std::error_code code;
  for (fs::recursive_directory_iterator it(where, code), end;
       it != end && !code; it.increment(code)) {
    uint64_t one = 0;
    if (fs::is_regular_file(it->path()) && !fs::file_size(it->path(), one))
      bytes += one;
  }
  return bytes;
}

/// Whether `entry` is NAME-KEY.
static bool isEntry(StringRef entry) {
  auto [stem, key] = entry.rsplit('-');
  return key.size() == 16 && !stem.empty() &&
         llvm::all_of(key, [](char digit) { return llvm::isHexDigit(digit); });
}

std::vector<CachedModel> anec::modelsInCache(StringRef folder) {
  std::vector<CachedModel> models;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code)) {
    StringRef entry = path::filename(it->path());
    fs::file_status status;
    if (!entry.consume_back(programEnd) || !isEntry(entry) ||
        fs::status(it->path(), status))
      continue;
    CachedModel model{entry.str(), 0, status.getLastModificationTime()};
    std::string stem =
        it->path().substr(0, it->path().size() - programEnd.size());
    model.isReady = fs::exists(stem + packageEnd + "/manifest.json");
    for (StringRef ending : {programEnd, namesEnd, wordsEnd, packageEnd})
      model.bytes += sizeOnDisk(stem + ending.str());
    models.push_back(std::move(model));
  }
  llvm::sort(models, [](const CachedModel &one, const CachedModel &other) {
    return std::tie(other.used, one.name) < std::tie(one.used, other.name);
  });
  return models;
}

bool anec::removeFromCache(StringRef where, llvm::ArrayRef<CachedModel> models,
                           Diagnostics &diags) {
  std::error_code code;
  std::optional<Folder> folder = Folder::open(where, code);
  if (!folder) {
    diags.reportFile(where, diag::CannotOpen, code.message());
    return false;
  }
  auto isOfTokenizer = [](StringRef file, bool isFolder) {
    return !isFolder && file.ends_with(".json") && !file.contains('/');
  };
  bool all = true;
  for (const CachedModel &model : models) {
    std::string wrong, package = model.name + packageEnd.str();
    if (folder->has(package) &&
        !removeOwnFolder(*folder, package, packageFolder(), wrong)) {
      diags.reportFile(folder->pathOf(package), diag::NotReplaced, wrong);
      all = false;
      continue;
    }
    removeKnown(*folder, model.name + wordsEnd.str(), isOfTokenizer);
    (void)folder->remove(model.name + namesEnd.str());
    (void)folder->remove(model.name + programEnd.str());
  }
  return all;
}

/// Removes what was not used longest, beside `kept`, which was used now.
static void limit(const ModelCacheOptions &options, StringRef kept) {
  std::vector<CachedModel> models = modelsInCache(options.folder), old;
  uint64_t bytes = 0;
  for (CachedModel &model : models) {
    bytes += model.bytes;
    if (bytes > options.mostBytes && model.name != path::filename(kept) &&
        !model.wasUsedLately())
      old.push_back(std::move(model));
  }
  Diagnostics ignored; // What stays is looked at again the next time.
  if (!old.empty())
    (void)removeFromCache(options.folder, old, ignored);
}

static void setUsed(const std::string &program) {
  int descriptor = -1;
  if (fs::openFileForReadWrite(program, descriptor, fs::CD_OpenExisting,
                               fs::OF_None))
    return;
  (void)fs::setLastAccessAndModificationTime(descriptor,
                                             std::chrono::system_clock::now());
  llvm::sys::fs::file_t file = descriptor;
  (void)fs::closeFile(file);
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

/// With the tokenizer of a GGUF file, if it has one that anec knows: ids need
/// none, and a user may name another.
static bool import(StringRef source, const std::string &stem,
                   const ModelCacheOptions &options, Diagnostics &diags) {
  ImportOptions import;
  import.positions = options.context;
  import.mostPositions = options.mostContext;
  std::string program = stem + programEnd.str();
  if (source.ends_with(".gguf")) {
    import.tokenizer = stem + wordsEnd.str();
    Diagnostics own;
    if (importModel(source, program, import, own))
      return true;
    import.tokenizer.clear();
  }
  return importModel(source, program, import, diags);
}

static bool make(StringRef source, const std::string &stem,
                 const ModelCacheOptions &options, Diagnostics &diags) {
  std::string program = stem + programEnd.str();
  if (!import(source, stem, options, diags))
    return false;
  CompileOptions compile;
  compile.weights.mapping = stem + namesEnd.str();
  if (options.adapters) {
    compile.lora = options.adapters;
  } else {
    compile.train = false;
    compile.decode = true;
    compile.weights.source = source.str();
    std::string ignored;
    if (options.keepsIntegers)
      compile.quantization = Quantization::parse("exact", ignored);
  }
  return compileModelFile(program, compile, stem + packageEnd.str(), diags)
      .has_value();
}

std::optional<ReadyModel> anec::readyModel(StringRef source,
                                           const ModelCacheOptions &options,
                                           Diagnostics &diags) {
  std::optional<CachePlace> place = findInCache(source, options, diags);
  if (!place)
    return std::nullopt;
  if (!place->isReady && !make(source, place->stem, options, diags)) {
    Diagnostics ignored; // Nothing has to stay of what was begun.
    if (fs::is_directory(options.folder))
      (void)removeFromCache(options.folder,
                            {{path::filename(place->stem).str()}}, ignored);
    return std::nullopt;
  }
  setUsed(place->stem + programEnd.str());
  limit(options, place->stem);
  ReadyModel ready{place->stem + packageEnd.str(),
                   place->stem + programEnd.str(), place->stem + namesEnd.str(),
                   ""};
  std::string words = place->stem + wordsEnd.str();
  if (fs::exists(words + "/tokenizer.json"))
    ready.tokenizer = words;
  for (StringRef file : {"/tokenizer.json", "/tokenizer.model"})
    if (ready.tokenizer.empty() && fs::exists(source + file))
      ready.tokenizer = source.str();
  return ready;
}
