//===- ArraySource.cpp - named collections of arrays ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Arrays/ArraySource.h"
#include "lib/Arrays/Diags.h"
#include "lib/Arrays/Gguf.h"
#include "lib/Arrays/Llama2c.h"
#include "lib/Arrays/Npy.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/Support/Diags.h"
#include "lib/Support/FileName.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace anec;
using namespace llvm;

/// The .npy files in `folder`, sorted.
static std::optional<std::vector<std::string>> listNpy(StringRef folder,
                                                       Diagnostics &diags) {
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code))
    if (sys::path::extension(it->path()) == ".npy")
      files.push_back(it->path());
  if (code) {
    diags.reportFile(folder, diag::CannotOpen, code.message());
    return std::nullopt;
  }
  llvm::sort(files);
  return files;
}

/// A zip archive, or in older versions a bare pickle of protocol 2 that begins
/// with a long integer.
bool anec::isPyTorchFile(const MappedFile &file) {
  StringRef bytes = file->getBuffer();
  return bytes.starts_with("PK\x03\x04") ||
         bytes.starts_with("\x80\x02\x8a\x0a");
}

bool ArraySource::addFile(const MappedFile &file, StringRef path,
                          function_ref<bool(StringRef)> belongs,
                          Diagnostics &diags) {
  if (isPyTorchFile(file)) {
    diags.reportFile(path, diag::PyTorchFile);
    return false;
  }
  std::optional<Safetensors> contents = readSafetensors(file, path, diags);
  if (!contents)
    return false;
  for (NamedArray &named : contents->arrays)
    if (belongs(named.name))
      arrays.try_emplace(named.name, std::move(named.array));
  auto byName = [](const auto &a, const auto &b) { return a.first < b.first; };
  for (auto &entry : contents->metadata)
    if (auto place = llvm::lower_bound(about, entry, byName);
        place == about.end() || place->first != entry.first)
      about.insert(place, std::move(entry));
  files.push_back(file);
  return true;
}

bool ArraySource::addGguf(const MappedFile &file, Diagnostics &diags) {
  std::optional<GgufFile> contents = readGguf(file, source, diags);
  if (!contents)
    return false;
  for (auto &[name, array] : contents->arrays)
    arrays.try_emplace(name, std::move(array));
  files.push_back(file);
  return true;
}

bool ArraySource::addLlama2c(const MappedFile &file, Diagnostics &diags) {
  if (isPyTorchFile(file)) {
    diags.reportFile(source, diag::PyTorchFile);
    return false;
  }
  std::optional<Llama2cFile> contents = readLlama2c(file, source, diags);
  if (!contents)
    return false;
  for (auto &[name, array] : contents->arrays)
    arrays.try_emplace(name, std::move(array));
  files.push_back(file);
  return true;
}

/// The file of each array, by the names of both, in `index`.
static std::optional<std::map<std::string, std::vector<std::string>>>
readShardIndex(StringRef index, Diagnostics &diags) {
  auto fail = [&](const Twine &reason) {
    diags.reportFile(index, diag::BadShardIndex, reason.str());
    return std::nullopt;
  };
  std::optional<json::Value> value =
      readJson(index, diag::BadShardIndex, diags);
  if (!value)
    return std::nullopt;
  const json::Object *object = value->getAsObject();
  const json::Object *map = object ? object->getObject("weight_map") : nullptr;
  if (!map)
    return fail("it has no object `weight_map`");
  std::map<std::string, std::vector<std::string>> shards;
  for (const auto &[name, file] : *map) {
    std::optional<StringRef> shard = file.getAsString();
    if (!shard)
      return fail("the file of `" + name.str() + "` is not a string");
    if (!isFileName(*shard))
      return fail("`" + showFileName(*shard) +
                  "` is not a name of a file beside it");
    shards[shard->str()].push_back(name.str());
  }
  return shards;
}

bool ArraySource::addShards(StringRef index, Diagnostics &diags) {
  auto shards = readShardIndex(index, diags);
  if (!shards)
    return false;
  for (const auto &[name, listed] : *shards) {
    std::string path = pathIn(source, name);
    StringSet<> wanted;
    for (const std::string &array : listed)
      wanted.insert(array);
    MappedFile file = mapFile(path, diags);
    if (!file ||
        !addFile(
            file, path, [&](StringRef array) { return wanted.contains(array); },
            diags))
      return false;
    for (const std::string &array : listed)
      if (!arrays.contains(array)) {
        diags.reportFile(index, diag::BadShardIndex,
                         "`" + name + "` has no array `" + array + "`");
        return false;
      }
  }
  return true;
}

bool ArraySource::addNpyFiles(Diagnostics &diags) {
  std::optional<std::vector<std::string>> names = listNpy(source, diags);
  if (!names)
    return false;
  for (const std::string &name : *names) {
    MappedFile file = mapFile(name, diags);
    ConstantRef array = file ? readNpy(file, name, diags) : nullptr;
    if (!array)
      return false;
    files.push_back(std::move(file));
    arrays.try_emplace(sys::path::stem(name), std::move(array));
  }
  if (!files.empty())
    return true;
  // As Hugging Face's folders have it.
  std::string pickle = pathIn(source, "pytorch_model.bin");
  if (sys::fs::exists(pickle) || sys::fs::exists(pickle + ".index.json"))
    diags.reportFile(source, diag::PyTorchFile);
  else
    diags.reportFile(source, diag::NoArrays);
  return false;
}

static bool takeAll(StringRef) { return true; }

std::optional<ArraySource>
ArraySource::read(const MappedFile &file, StringRef path, Diagnostics &diags) {
  ArraySource source;
  source.source = path.str();
  bool ok = isGguf(file) ? source.addGguf(file, diags)
            : isLlama2c(file, path)
                ? source.addLlama2c(file, diags)
                : source.addFile(file, path, takeAll, diags);
  return ok ? std::optional(std::move(source)) : std::nullopt;
}

std::optional<ArraySource> ArraySource::open(StringRef path,
                                             Diagnostics &diags) {
  if (!sys::fs::is_directory(path)) {
    if (sys::path::extension(path) == ".npy" && sys::fs::exists(path)) {
      diags.reportFile(path, diag::NoArrayNames);
      return std::nullopt;
    }
    MappedFile file = mapFile(path, diags);
    return file ? read(file, path, diags) : std::nullopt;
  }
  ArraySource source;
  source.source = path.str();
  static constexpr StringLiteral names[] = {"model.safetensors",
                                            "model.safetensors.index.json",
                                            "weights.safetensors"};
  const StringLiteral *listed = llvm::find_if(names, [&](StringRef name) {
    return sys::fs::exists(pathIn(path, name));
  });
  if (listed == std::end(names))
    return source.addNpyFiles(diags) ? std::optional(std::move(source))
                                     : std::nullopt;
  std::optional<std::vector<std::string>> others = listNpy(path, diags);
  if (!others)
    return std::nullopt;
  if (!others->empty()) {
    diags.reportFile(path, diag::TwoKindsOfArrays, *listed);
    return std::nullopt;
  }
  std::string first = pathIn(path, *listed);
  bool ok;
  if (listed->ends_with(".json")) {
    ok = source.addShards(first, diags);
  } else {
    MappedFile file = mapFile(first, diags);
    ok = file && source.addFile(file, first, takeAll, diags);
  }
  return ok ? std::optional(std::move(source)) : std::nullopt;
}

const StoredArray *ArraySource::find(StringRef name) const {
  auto known = arrays.find(name);
  return known == arrays.end() ? nullptr : &known->second;
}

ConstantRef ArraySource::lookup(StringRef name) const {
  const StoredArray *array = find(name);
  return array ? array->get() : nullptr;
}

ConstantRef ArraySource::lookup(StringRef name, const TensorType &type,
                                SourceRange range, Diagnostics &diags) const {
  const StoredArray *array = find(name);
  if (!array) {
    if (range.isValid())
      diags.report(range, diag::NoSuchArray, source, name);
    else
      diags.reportFile(source, diag::NoSuchArray, source, name);
    return nullptr;
  }
  const TensorType &stored = array->type();
  bool sameFamily = stored.dtype == type.dtype ||
                    (isFloat(stored.dtype) && isFloat(type.dtype));
  if (stored.shape != type.shape || !sameFamily) {
    diags.report(range, diag::ArrayTypeMismatch, name, stored.str(), source,
                 type.str());
    return nullptr;
  }
  return array->get(type.dtype);
}

void ArraySource::releasePages() const {
  for (const MappedFile &file : files)
    anec::releasePages(file);
}

std::vector<StringRef> ArraySource::names() const {
  std::vector<StringRef> all(arrays.keys().begin(), arrays.keys().end());
  llvm::sort(all);
  return all;
}
