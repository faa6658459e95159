//===- Import.cpp - language models of others as programs -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Import/Import.h"
#include "Families.h"
#include "ImportedWeights.h"
#include "LayerCalls.h"
#include "anec/Arrays/ArraySource.h"
#include "anec/Import/Diags.h"
#include "anec/Package/WeightBinding.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
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

//===----------------------------------------------------------------------===//
// Hugging Face's layout
//===----------------------------------------------------------------------===//

static std::string familyNames() {
  std::vector<std::string> names;
  for (const Family &family : families())
    names.push_back("`" + family.name.str() + "`");
  return join(names, ", ");
}

/// The family that `config` names; null, with the reason reported, when anec
/// does not know it.
static const Family *familyOf(const json::Object &config, StringRef path,
                              Diagnostics &diags) {
  const json::Value *type = config.get("model_type");
  if (!type) {
    diags.reportFile(path, diag::ConfigMissing, "model_type");
    return nullptr;
  }
  const Family *family = findFamily(type->getAsString().value_or(""));
  if (!family) {
    std::string spelled;
    raw_string_ostream(spelled) << *type;
    diags.reportFile(path, diag::ModelFamily, spelled, familyNames());
  }
  return family;
}

/// What the sizes must be besides positive.
static void checkSizes(const Decoder &decoder, ConfigReader &config) {
  if (config.hasFailed())
    return;
  auto product = [](int64_t lhs, int64_t rhs) {
    return lhs > INT32_MAX / rhs; // larger than an extent can be
  };
  if (decoder.heads % decoder.keyHeads)
    config.fail("its " + Twine(decoder.keyHeads) +
                " heads of keys do not "
                "divide its " +
                Twine(decoder.heads) + " heads");
  else if (product(decoder.heads + 2 * decoder.keyHeads, decoder.headDim) ||
           decoder.hidden > INT32_MAX / 2)
    config.fail("its heads, or its hidden channels, are too many");
  else if (decoder.layers > 10000)
    config.fail("it has more than 10000 layers");
  else if (!canWriteKinds(decoder.kinds))
    config.fail("the rotary embeddings of its layers are scaled in several "
                "ways");
}

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
  const Family *family = familyOf(model.config, path, diags);
  if (!family)
    return std::nullopt;
  model.decoder.family = family->name.str();
  ConfigReader config(model.config, path, options.ignoredKeys, diags);
  family->read(config, model.decoder);
  checkSizes(model.decoder, config);
  if (!config.finish())
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

static void writeNames(const ImportedModel &model, raw_ostream &out) {
  json::OStream json(out, 2);
  json.object([&] {
    for (const ImportedWeight &weight : model.weights)
      json.attribute(weight.name, weight.array);
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
  OutputFile *text = files.add(program),
             *names = text ? files.add(namesFileOf(program)) : nullptr;
  if (!names)
    return false;
  *text << programText(decoder, spelling(options.floats), positions);
  writeNames(*model, *names);
  return files.commit();
}
