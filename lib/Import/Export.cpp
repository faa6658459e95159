//===- Export.cpp - weights back in the layout they came from -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An imported program uses arrays as they were stored, so that its weights go
/// back under their names, without a change of layout.
///
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "anec/Arrays/ArraySource.h"
#include "anec/Arrays/Diags.h"
#include "anec/Arrays/Safetensors.h"
#include "anec/Import/Diags.h"
#include "anec/Import/Import.h"
#include "anec/Package/ModelFacts.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Support/Json.h"
#include "anec/Support/MappedFile.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

/// The arrays to write, by the names of the file.
static std::optional<std::vector<PlannedArray>>
planArrays(const Decoder &decoder, const json::Object &names,
           StringRef namesPath, const ArraySource &arrays, Diagnostics &diags) {
  std::vector<PlannedArray> planned;
  StringSet<> known;
  for (const DecoderWeight &weight : weightsOf(decoder))
    for (int64_t layer = 0, end = weight.isOfLayer ? decoder.layers : 1;
         layer < end; ++layer) {
      std::string name = weight.nameOf(layer);
      std::optional<StringRef> other = names.getString(name);
      if (!other) {
        diags.reportFile(namesPath, diag::BadNamesFile,
                         "it has no name for `" + name + "`");
        return std::nullopt;
      }
      ConstantRef array = arrays.lookup(name);
      if (!array) {
        diags.reportFile(arrays.path(), diag::NoSuchArray, arrays.path(), name);
        return std::nullopt;
      }
      if (array->type().shape != weight.shape() || !isFloat(array->dtype())) {
        diags.reportFile(arrays.path(), diag::WeightArrayShape, name,
                         array->type().str(), "`config.json`",
                         shapeToString(weight.shape()));
        return std::nullopt;
      }
      known.insert(name);
      planned.push_back(
          {other->str(), array->type(), [array] { return array; }});
    }
  for (StringRef name : arrays.names())
    if (!known.contains(name)) {
      diags.reportFile(arrays.path(), diag::ArrayNotInProgram, name, namesPath);
      return std::nullopt;
    }
  return planned;
}

/// What the model computes with its weights, as far as it is a fact.
static ModelFacts factsOf(const Decoder &decoder) {
  ModelFacts facts;
  if (decoder.norm != Normalization::Layer)
    facts.add(fact::rmsNormEps, ModelFacts::spell(decoder.epsilon));
  for (const LayerKind &kind : decoder.kinds) {
    if (kind.rotary.channels == 0)
      continue;
    facts.add(fact::ropeStyle,
              decoder.isInterleaved ? "interleaved" : "half_split");
    facts.add(fact::ropeTheta, ModelFacts::spell(kind.rotary.theta));
    facts.add(fact::ropeScaling, kind.rotary.scaling.text());
  }
  return facts;
}

/// config.json as it was imported, but for the element type.
static json::Object configFor(const json::Object &original,
                              ArrayRef<PlannedArray> arrays) {
  json::Object config = original;
  static constexpr std::pair<DType, StringLiteral> spellings[] = {
      {DType::FP32, "float32"},
      {DType::FP16, "float16"},
      {DType::BF16, "bfloat16"}};
  for (StringRef key : {"torch_dtype", "dtype"})
    for (const auto &[dtype, spelled] : spellings)
      if (config.get(key) && arrays.front().type.dtype == dtype)
        config[key] = spelled;
  return config;
}

static bool copyTokenizer(StringRef from, StringRef to, AtomicFiles &files,
                          Diagnostics &diags) {
  static constexpr StringLiteral names[] = {"tokenizer.json",
                                            "tokenizer_config.json",
                                            "tokenizer.model",
                                            "vocab.json",
                                            "merges.txt",
                                            "added_tokens.json",
                                            "special_tokens_map.json",
                                            "chat_template.jinja",
                                            "generation_config.json"};
  bool isAny = false;
  for (StringRef name : names) {
    SmallString<128> path(from);
    sys::path::append(path, name);
    if (!sys::fs::exists(path))
      continue;
    MappedFile file = mapFile(path, diags);
    OutputFile *copy = file ? files.add(to, name) : nullptr;
    if (!copy)
      return false;
    *copy << file->getBuffer();
    isAny = true;
  }
  if (!isAny)
    diags.reportFile(from, diag::NoTokenizerFiles);
  return isAny;
}

bool anec::exportModel(StringRef weights, StringRef names, StringRef tokenizer,
                       StringRef folder, Diagnostics &diags) {
  std::optional<json::Value> value = readJson(names, diag::BadNamesFile, diags);
  if (!value)
    return false;
  const json::Object *object = value->getAsObject();
  const json::Object *config = object ? object->getObject("config") : nullptr;
  if (!config) {
    diags.reportFile(names, diag::BadNamesFile,
                     "it has no object `config`, as the maps of models from "
                     "Hugging Face's folders have");
    return false;
  }
  // Keys that were ignored when it was imported are not looked at again.
  std::vector<std::string> ignored;
  if (const json::Array *keys = object->getArray("ignored"))
    for (const json::Value &key : *keys)
      ignored.push_back(key.getAsString().value_or("").str());
  Decoder decoder;
  if (!readDecoder(*config, names, ignored, decoder, diags))
    return false;
  std::optional<ArraySource> arrays = ArraySource::open(weights, diags);
  if (!arrays ||
      !checkFacts(factsOf(decoder), ModelFacts::from(arrays->metadata()),
                  weights, diags))
    return false;
  std::optional<std::vector<PlannedArray>> planned =
      planArrays(decoder, *object, names, *arrays, diags);
  if (!planned)
    return false;

  AtomicFiles files(diags);
  OutputFile *out = files.add(folder, "model.safetensors");
  OutputFile *text = out ? files.add(folder, "config.json") : nullptr;
  if (!text)
    return false;
  bool isWritten = writeSafetensors(*out, *planned, {{"format", "pt"}});
  assert(isWritten && "floats have codes");
  (void)isWritten;
  json::OStream(*text, 2).value(json::Value(configFor(*config, *planned)));
  *text << '\n';
  if (!tokenizer.empty() && !copyTokenizer(tokenizer, folder, files, diags))
    return false;
  return files.commit();
}
