//===- LlamaConfig.cpp - what is said of a Llama --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LlamaConfig.h"
#include "lib/Import/Diags.h"
#include "lib/Support/Json.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace llvm;

namespace {
/// A size as config.json, programs of anec, and a Decoder have it.
struct ConfigSize {
  StringLiteral key, name;
  int64_t Decoder::*size;
};
} // namespace

static constexpr ConfigSize sizesInConfig[] = {
    {"hidden_size", "dim", &Decoder::dim},
    {"intermediate_size", "hidden", &Decoder::hidden},
    {"num_hidden_layers", "layers", &Decoder::layers},
    {"num_attention_heads", "heads", &Decoder::heads},
    {"num_key_value_heads", "kv_heads", &Decoder::keyHeads},
    {"head_dim", "head_dim", &Decoder::headDim},
    {"max_position_embeddings", "seq", &Decoder::positions},
    {"vocab_size", "vocab", &Decoder::vocab},
};

ArrayRef<StringLiteral> anec::factsInConfig() {
  static constexpr StringLiteral names[] = {fact::rmsNormEps, fact::ropeTheta,
                                            fact::ropeScaling};
  return names;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void LlamaConfig::complete(const SafetensorsMetadata &metadata) {
  for (const auto &[key, value] : metadata)
    if (int64_t number; !StringRef(value).getAsInteger(10, number))
      sizes.try_emplace(key, number);
  facts.complete(ModelFacts::from(metadata));
}

static std::optional<json::Object> readObject(StringRef path,
                                              Diagnostics &diags) {
  std::optional<json::Value> value =
      readJson(path, diag::BadModelConfig, diags);
  if (!value)
    return std::nullopt;
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  diags.reportFile(path, diag::BadModelConfig, "it is not a JSON object");
  return std::nullopt;
}

/// What config.json says of the rotary embedding: newer ones in an object
/// `rope_parameters`. A number that is missing is the default of transformers'
/// LlamaConfig.
static void readRope(const json::Object &config, ModelFacts &facts) {
  const json::Object *newer = config.getObject("rope_parameters");
  std::optional<double> theta =
      (newer ? *newer : config).getNumber(fact::ropeTheta);
  facts.add(fact::ropeTheta, ModelFacts::spell(theta.value_or(10000)));
  const json::Object *scaling =
      newer ? newer : config.getObject(fact::ropeScaling);
  if (!scaling) {
    facts.add(fact::ropeScaling, "none");
    return;
  }
  std::string wrong;
  if (std::optional<RopeScaling> known =
          RopeScaling::read(*scaling, config, wrong)) {
    facts.add(fact::ropeScaling, known->text());
    return;
  }
  // No model of anec says the same.
  json::Object factors = *scaling;
  factors.erase(fact::ropeTheta);
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(factors));
  facts.add(fact::ropeScaling, text);
}

bool LlamaConfig::addFile(StringRef path, Diagnostics &diags) {
  std::optional<json::Object> object = readObject(path, diags);
  if (!object)
    return false;
  for (const ConfigSize &row : sizesInConfig)
    if (std::optional<int64_t> number = object->getInteger(row.key))
      sizes[row.name.str()] = *number;
  tied = object->getBoolean("tie_word_embeddings");
  StringRef activation = object->getString("hidden_act").value_or("silu");
  if (activation != "silu" && activation != "swish") {
    diags.reportFile(path, diag::BadModelConfig,
                     "its `hidden_act` is `" + activation.str() +
                         "`, and a Llama's is `silu`");
    return false;
  }
  readRope(*object, facts);
  facts.add(
      fact::rmsNormEps,
      ModelFacts::spell(object->getNumber(fact::rmsNormEps).value_or(1e-6)));
  return true;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void anec::writeLlamaConfig(const LlamaWeights &weights, raw_ostream &out) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attributeArray("architectures",
                        [&] { json.value("LlamaForCausalLM"); });
    json.attribute("model_type", "llama");
    json.attribute("hidden_act", "silu");
    for (const ConfigSize &row : sizesInConfig)
      if (int64_t size = weights.decoder.*row.size)
        json.attribute(row.key, size);
    for (StringRef name : factsInConfig()) {
      std::string value = *weights.facts.only(name);
      json.attributeBegin(name);
      json.rawValue(value == "none" ? "null" : value);
      json.attributeEnd();
    }
    json.attribute("tie_word_embeddings", !weights.decoder.hasClassifier);
  });
  out << '\n';
}
