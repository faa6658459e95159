//===- PackageFolder.cpp - what the folder of a package holds -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Package/ModelPackage.h"
#include "lib/Support/AtomicFolder.h"
#include "lib/Support/FileName.h"
#include "lib/Support/Json.h"

using namespace anec;
namespace json = llvm::json;

/// The files that anec has written to packages of any version.
static bool mayHold(llvm::StringRef path, bool isFolder) {
  if (isFolder)
    return path == "kernels" || path == "weights";
  if (path == "manifest.json" || path == "schedule.ir" ||
      path == packagedWeightMap)
    return true;
  auto [folder, file] = path.split('/');
  if (!isFileName(file))
    return false;
  return folder == "kernels"
             ? file.ends_with(".mil")
             : folder == "weights" &&
                   (file.ends_with(".bin") || file.ends_with(".safetensors"));
}

/// Reads no more of a manifest than packages of all versions have.
static bool list(llvm::StringRef text, std::vector<std::string> &files,
                 std::string &wrong) {
  JsonError error;
  std::optional<json::Value> value = parseJson(text, error);
  if (!value) {
    wrong = error.message;
    return false;
  }
  const json::Object *object = value->getAsObject();
  const json::Array *listed = object ? object->getArray("files") : nullptr;
  if (!listed || !object->getInteger("format") ||
      !object->getString("compiler").value_or("").starts_with("anec ")) {
    wrong = "it has no `format`, `compiler` and `files` of a package";
    return false;
  }
  for (const json::Value &entry : *listed) {
    const json::Object *file = entry.getAsObject();
    files.push_back(file ? file->getString("path").value_or("").str()
                         : std::string());
  }
  return true;
}

const FolderKind &anec::packageFolder() {
  static constexpr FolderKind kind = {"manifest.json", mayHold, list};
  return kind;
}
