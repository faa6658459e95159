//===- ExportedWeights.cpp - weights under their own names ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ExportedWeights.h"
#include "lib/Arrays/Diags.h"
#include "lib/Import/Diags.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;
using namespace llvm;

void NamesFile::reportBad(const Twine &reason, Diagnostics &diags) const {
  diags.reportFile(path, diag::BadNamesFile, reason.str());
}

std::optional<NamesFile> NamesFile::read(StringRef path, Diagnostics &diags) {
  std::optional<StringRef> text = diags.addFile(path);
  JsonPlaces places;
  std::optional<json::Value> value;
  if (text)
    value = parseJson(*text, diag::BadNamesFile, diags, &places);
  if (!value)
    return std::nullopt;
  NamesFile file;
  file.path = path.str();
  json::Object *object = value->getAsObject();
  if (!object) {
    file.reportBad("it is not an object", diags);
    return std::nullopt;
  }
  file.names = std::move(*object);
  if (const json::Object *config = file.names.getObject("config"))
    file.config = ConfigText(*config, places, "/config");
  if (const json::Array *keys = file.names.getArray("ignored"))
    for (const json::Value &key : *keys)
      file.ignoredKeys.push_back(key.getAsString().value_or("").str());
  return file;
}

std::optional<std::vector<ImportedWeight>>
anec::weightsIn(const NamesFile &names, const Decoder &decoder,
                Diagnostics &diags) {
  std::vector<ImportedWeight> weights = weightInstances(decoder);
  for (ImportedWeight &weight : weights) {
    std::optional<StringRef> array = names.names.getString(weight.name);
    if (!array) {
      names.reportBad("it has no name for `" + weight.name + "`", diags);
      return std::nullopt;
    }
    weight.array = array->str();
  }
  return weights;
}

std::optional<std::vector<PlannedArray>>
anec::planArrays(const Decoder &decoder, ArrayRef<ImportedWeight> weights,
                 StringRef description, const NamesFile &names,
                 const ArraySource &arrays, Diagnostics &diags) {
  if (!checkFacts(factsOf(decoder), ModelFacts::from(arrays.metadata()),
                  arrays.path(), diags))
    return std::nullopt;
  std::vector<PlannedArray> planned;
  StringSet<> known;
  for (const ImportedWeight &weight : weights) {
    ConstantRef array = arrays.lookup(weight.name);
    if (!array) {
      diags.reportFile(arrays.path(), diag::NoSuchArray, arrays.path(),
                       weight.name);
      return std::nullopt;
    }
    if (array->type().shape != weight.shape || !isFloat(array->dtype())) {
      diags.reportFile(arrays.path(), diag::WeightArrayShape, weight.name,
                       array->type().str(), description,
                       shapeToString(weight.shape));
      return std::nullopt;
    }
    known.insert(weight.name);
    planned.push_back({weight.array, array->type(), [array] { return array; }});
  }
  for (StringRef name : arrays.names())
    if (!known.contains(name)) {
      diags.reportFile(arrays.path(), diag::ArrayNotInProgram, name,
                       names.path);
      return std::nullopt;
    }
  return planned;
}
