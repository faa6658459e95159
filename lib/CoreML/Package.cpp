//===- Package.cpp - the files of a Core ML package -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A package is a folder with `Manifest.json`, which lists items: files and
/// folders below `Data/`. Links are not followed, and paths do not leave
/// `Data/`: packages come from strangers.
///
//===----------------------------------------------------------------------===//

#include "Package.h"
#include "lib/CoreML/Diags.h"
#include "lib/CoreML/Reader.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <sys/stat.h>

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;
namespace json = llvm::json;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral manifestName("Manifest.json");

bool anec::isCoreMLPackage(StringRef path) {
  std::error_code code;
  std::optional<Folder> folder = Folder::open(path, code);
  return folder && S_ISREG(folder->modeOf(manifestName)) &&
         S_ISDIR(folder->modeOf("Data"));
}

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

namespace {

struct Item {
  std::string name, author, path;
};

class ManifestReader {
public:
  ManifestReader(StringRef text, StringRef file, Diagnostics &diags)
      : text(text), file(file), diags(diags) {}

  /// The items of the model and, if there is one, of the weights.
  bool read(Item &model, std::optional<Item> &weights) {
    std::optional<json::Value> value =
        parseJson(text, diag::PackageManifest, diags);
    if (!value)
      return false;
    const json::Object *manifest = value->getAsObject();
    if (!manifest)
      return fail("it is not an object");
    const json::Object *items = manifest->getObject("itemInfoEntries");
    std::optional<StringRef> root = manifest->getString("rootModelIdentifier");
    std::optional<StringRef> version = manifest->getString("fileFormatVersion");
    if (!items || !root || !version)
      return fail("it needs `fileFormatVersion`, `itemInfoEntries` and "
                  "`rootModelIdentifier`");
    if (!checkVersion(*version))
      return false;
    const json::Object *entry = items->getObject(*root);
    if (!entry)
      return fail("it has no item `" + root->str() +
                  "`, which `rootModelIdentifier` names");
    if (!readItem(*root, *entry, model))
      return false;
    for (const auto &[key, other] : *items) {
      const json::Object *object = other.getAsObject();
      Item item;
      if (!object)
        return fail("the item `" + key.str() + "` is not an object");
      if (!readItem(key, *object, item))
        return false;
      if (item.name == "weights" && item.author == "com.apple.CoreML")
        weights = std::move(item);
    }
    return true;
  }

private:
  bool fail(const std::string &reason) {
    diags.reportFile(file, diag::PackageManifest, reason);
    return false;
  }

  bool checkVersion(StringRef version) {
    llvm::SmallVector<StringRef, 3> parts;
    version.split(parts, '.');
    std::vector<unsigned> numbers;
    bool isKnown = parts.size() == 3;
    for (StringRef part : parts)
      isKnown &= !part.getAsInteger(10, numbers.emplace_back());
    isKnown &= numbers <= std::vector<unsigned>{1, 0, 0};
    if (!isKnown)
      diags.reportFile(file, diag::PackageVersion, version);
    return isKnown;
  }

  bool readItem(StringRef key, const json::Object &entry, Item &item) {
    std::optional<StringRef> name = entry.getString("name"),
                             author = entry.getString("author"),
                             where = entry.getString("path");
    if (!name || !author || !where || !entry.getString("description"))
      return fail("the item `" + key.str() +
                  "` needs `author`, `description`, `name` and `path`");
    item = {name->str(), author->str(), where->str()};
    bool escapes =
        where->empty() || path::is_absolute(*where) || where->contains('\0');
    for (StringRef part :
         llvm::make_range(path::begin(*where), path::end(*where)))
      escapes |= part == ".." || part == ".";
    if (escapes)
      diags.reportFile(file, diag::PackagePath, *where);
    return !escapes;
  }

  StringRef text, file;
  Diagnostics &diags;
};

} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Opens the folder at `relative` below `parent`, each part without following
/// links.
static std::optional<Folder> openBelow(const Folder &parent, StringRef relative,
                                       std::error_code &code) {
  std::optional<Folder> folder;
  for (StringRef part :
       llvm::make_range(path::begin(relative), path::end(relative))) {
    folder = (folder ? *folder : parent).openFolder(part, code);
    if (!folder)
      return std::nullopt;
  }
  return folder;
}

/// Opens `name` in `parent` as the folder of weights, if it is there.
static bool openWeights(const Folder &parent, StringRef name, ModelFiles &files,
                        Diagnostics &diags) {
  files.weightPath = parent.pathOf(name);
  std::error_code code;
  files.weights = openBelow(parent, name, code);
  if (files.weights || code == std::errc::no_such_file_or_directory)
    return true;
  diags.reportFile(files.weightPath, diag::PackageItem, name, code.message());
  return false;
}

static std::optional<Folder> openFolder(StringRef path, Diagnostics &diags) {
  std::error_code code;
  std::optional<Folder> folder = Folder::open(path, code);
  if (!folder)
    diags.reportFile(path, diag::CannotOpen, code.message());
  return folder;
}

std::optional<ModelFiles> coreml::openPackage(StringRef path,
                                              Diagnostics &diags) {
  std::optional<Folder> folder = openFolder(path, diags);
  if (!folder)
    return std::nullopt;
  std::string error, manifestPath = folder->pathOf(manifestName);
  std::unique_ptr<llvm::MemoryBuffer> manifest =
      folder->read(manifestName, error);
  if (!manifest) {
    diags.reportFile(manifestPath, diag::CannotOpen, error);
    return std::nullopt;
  }
  Item model;
  std::optional<Item> weights;
  StringRef text = diags.addBuffer(std::move(manifest));
  if (!ManifestReader(text, manifestPath, diags).read(model, weights))
    return std::nullopt;

  std::error_code code;
  std::optional<Folder> data = folder->openFolder("Data", code);
  if (!data) {
    diags.reportFile(folder->pathOf("Data"), diag::CannotOpen, code.message());
    return std::nullopt;
  }
  ModelFiles files;
  files.modelPath = data->pathOf(model.path);
  files.model = mapFile(*data, model.path, diags);
  if (!files.model)
    return std::nullopt;
  llvm::SmallString<64> beside(path::parent_path(model.path));
  path::append(beside, "weights");
  std::string weightsPath = weights ? weights->path : beside.str().str();
  // Copies of packages can lack an empty folder. A value that needs a weight
  // file reports it.
  if (!openWeights(*data, weightsPath, files, diags))
    return std::nullopt;
  return files;
}

std::optional<ModelFiles> coreml::openModel(StringRef path,
                                            Diagnostics &diags) {
  ModelFiles files;
  files.modelPath = path.str();
  files.model = mapFile(path, diags);
  std::optional<Folder> folder =
      files.model ? openFolder(path::parent_path(path), diags) : std::nullopt;
  if (!folder || !openWeights(*folder, "weights", files, diags))
    return std::nullopt;
  return files;
}
