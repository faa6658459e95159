//===- FolderModel.cpp - models in Hugging Face's layout ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "ImportedModel.h"
#include "TextModel.h"
#include "anec/Import/Diags.h"
#include "anec/Support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

std::optional<ImportedModel> anec::readFolderModel(StringRef folder,
                                                   const ImportOptions &options,
                                                   Diagnostics &diags) {
  SmallString<128> path(folder);
  sys::path::append(path, "config.json");
  if (sys::fs::is_directory(folder) && !sys::fs::exists(path)) {
    diags.reportFile(folder, diag::NoModelConfig);
    return std::nullopt;
  }
  std::optional<json::Value> value =
      readJson(path, diag::BadImportConfig, diags);
  if (!value)
    return std::nullopt;
  if (!value->getAsObject()) {
    diags.reportFile(path, diag::BadImportConfig, "it is no JSON object");
    return std::nullopt;
  }
  ImportedModel model;
  model.config = std::move(*value->getAsObject());
  bool isPart = hasTextModel(model.config);
  if (isPart) {
    std::optional<json::Object> text =
        textConfigOf(model.config, path, options.ignoredKeys, diags);
    if (!text)
      return std::nullopt;
    model.config = std::move(*text);
  }
  const Family *family = readDecoder(model.config, path, options.ignoredKeys,
                                     model.decoder, diags);
  if (!family || !fitsPositions(model.decoder, options, path, diags))
    return std::nullopt;
  std::optional<ArraySource> arrays = ArraySource::open(folder, diags);
  if (!arrays)
    return std::nullopt;
  StringRef prefix = family->prefix;
  if (isPart)
    prefix = textPrefix(*arrays);
  if (isDecoderAlone(family->arrays, *arrays))
    prefix = "";
  model.weights = matchWeights(family->arrays, model.decoder, prefix);
  std::vector<std::string> others;
  if (isPart)
    others = arraysForImages(*arrays);
  if (!checkWeights(model.weights, "`config.json`", others, *arrays, diags))
    return std::nullopt;
  return model;
}
