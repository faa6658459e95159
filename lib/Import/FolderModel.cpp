//===- FolderModel.cpp - models in Hugging Face's layout ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "ImportedModel.h"
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
  const Family *family = readDecoder(model.config, path, options.ignoredKeys,
                                     model.decoder, diags);
  if (!family || !fitsPositions(model.decoder, options, path, diags))
    return std::nullopt;
  std::optional<ArraySource> arrays = ArraySource::open(folder, diags);
  if (!arrays)
    return std::nullopt;
  model.weights = matchWeights(
      family->arrays, model.decoder,
      isDecoderAlone(family->arrays, *arrays) ? "" : family->prefix);
  if (!checkWeights(model.weights, "`config.json`", {}, *arrays, diags))
    return std::nullopt;
  return model;
}
