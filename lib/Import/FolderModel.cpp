//===- FolderModel.cpp - models in Hugging Face's layout ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "ImportedModel.h"
#include "TextModel.h"
#include "lib/Import/Diags.h"
#include "lib/Support/Json.h"
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
  std::optional<StringRef> text = diags.addFile(path);
  JsonPlaces places;
  std::optional<json::Value> value;
  if (text)
    value = parseJson(*text, diag::BadImportConfig, diags, &places);
  if (!value)
    return std::nullopt;
  if (!value->getAsObject()) {
    diags.reportFile(path, diag::BadImportConfig, "it is not a JSON object");
    return std::nullopt;
  }
  ImportedModel model;
  json::Object &config = *value->getAsObject();
  bool isPart = hasTextModel(config);
  if (isPart) {
    model.config =
        ConfigText(*config.getObject("text_config"), places, "/text_config");
    std::optional<json::Object> part =
        textConfigOf(config, path, options.ignoredKeys, diags);
    if (!part)
      return std::nullopt;
    config = std::move(*part);
    model.config.update(config);
  } else {
    model.config = ConfigText(config, places, "");
  }
  const Family *family =
      readDecoder(config, path, options.ignoredKeys, model.decoder, diags);
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
