//===- CompiledFolder.cpp - what a compiled model's folder holds ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CompiledFolder.h"
#include "DescriptionWriter.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;
namespace json = llvm::json;

static constexpr StringRef files[] = {
    compiled::textFile, compiled::weightFile, compiled::dataFile,
    compiled::analyticsFile, compiled::metadataFile};

static bool mayHoldCompiled(StringRef path, bool isFolder) {
  if (!isFolder)
    return llvm::is_contained(files, path);
  return llvm::any_of(files, [&](StringRef file) {
    return file.starts_with((path + "/").str());
  });
}

static bool listCompiled(StringRef text, std::vector<std::string> &listed,
                         std::string &wrong) {
  JsonError error;
  std::optional<json::Value> value = parseJson(text, error);
  const json::Array *models = value ? value->getAsArray() : nullptr;
  const json::Object *model =
      models && models->size() == 1 ? (*models)[0].getAsObject() : nullptr;
  const json::Object *own =
      model ? model->getObject("userDefinedMetadata") : nullptr;
  if (!own || !own->getString(versionKey)) {
    wrong = "it is not the metadata of a compiled model that anec wrote";
    return false;
  }
  for (StringRef file : files)
    listed.push_back(file.str());
  return true;
}

const FolderKind &compiled::folder() {
  static constexpr FolderKind kind = {metadataFile, mayHoldCompiled,
                                      listCompiled};
  return kind;
}
