//===- Import.cpp - language models of others as programs -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Import/Import.h"
#include "Families.h"
#include "ImportedWeights.h"
#include "anec/Arrays/ArraySource.h"
#include "anec/Import/Diags.h"
#include "anec/Package/WeightBinding.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

namespace {
/// A model that was read.
struct ImportedModel {
  Decoder decoder;
  std::vector<ImportedWeight> weights;
  json::Object config; ///< as it is in the file
};
} // namespace

/// Reads config.json, and compares it with the headers of the weights.
static std::optional<ImportedModel>
readFolder(StringRef folder, const ImportOptions &options, Diagnostics &diags) {
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
  if (!family)
    return std::nullopt;
  if (model.decoder.hasPositions &&
      options.positions > model.decoder.positions) {
    diags.reportFile(path, diag::TooManyPositions, options.positions,
                     model.decoder.positions);
    return std::nullopt;
  }
  std::optional<ArraySource> arrays = ArraySource::open(folder, diags);
  if (!arrays)
    return std::nullopt;
  model.weights = matchWeights(*family, model.decoder, *arrays);
  if (!checkWeights(model.weights, *family, *arrays, diags))
    return std::nullopt;
  return model;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void writeNames(const ImportedModel &model,
                       ArrayRef<std::string> ignoredKeys, raw_ostream &out) {
  json::OStream json(out, 2);
  json.object([&] {
    for (const ImportedWeight &weight : model.weights)
      json.attribute(weight.name, weight.array);
    if (!ignoredKeys.empty())
      json.attribute("ignored", json::Array(ignoredKeys));
    json.attribute("config", json::Value(json::Object(model.config)));
  });
  out << '\n';
}

bool anec::importModel(StringRef source, StringRef program,
                       const ImportOptions &options, Diagnostics &diags) {
  std::optional<ImportedModel> model = readFolder(source, options, diags);
  if (!model)
    return false;
  const Decoder &decoder = model->decoder;
  int64_t positions = options.positions
                          ? options.positions
                          : std::min<int64_t>(256, decoder.positions);
  AtomicFiles files(diags);
  std::string names = namesFileOf(program);
  StringRef folder = sys::path::parent_path(names);
  OutputFile *text = files.add(program);
  // Nobody named this file: it may be no link to another.
  OutputFile *map = text ? files.add(folder.empty() ? "." : folder,
                                     sys::path::filename(names))
                         : nullptr;
  if (!map)
    return false;
  *text << programText(decoder, spelling(options.floats), positions);
  writeNames(*model, options.ignoredKeys, *map);
  return files.commit();
}
