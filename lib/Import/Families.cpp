//===- Families.cpp - the families of models ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "LayerCalls.h"
#include "anec/Import/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace llvm;

llvm::ArrayRef<Family> anec::families() {
  static const Family rows[] = {
      {"gemma2", readGemma2, gemmaArrays(), "model."},
      {"gemma3_text", readGemma3, gemmaArrays(), "model."},
      {"gpt2", readGpt2, gpt2Arrays(), "transformer."},
      {"llama", readLlama, llamaArrays(), "model."},
      {"mistral", readMistral, llamaArrays(), "model."},
      {"phi", readPhi, phiArrays(), "model."},
      {"phi3", readPhi3, phi3Arrays(), "model."},
      {"qwen2", readQwen2, llamaArrays(), "model."},
      {"qwen3", readQwen3, llamaArrays(), "model."},
      {"smollm3", readSmolLM3, llamaArrays(), "model."},
  };
  return rows;
}

const Family *anec::findFamily(llvm::StringRef name) {
  for (const Family &family : families())
    if (family.name == name)
      return &family;
  return nullptr;
}

void anec::readSizes(ConfigReader &config, Decoder &decoder, int64_t headDim) {
  decoder.layers = config.size("num_hidden_layers");
  decoder.dim = config.size("hidden_size");
  decoder.hidden = config.size("intermediate_size");
  decoder.heads = config.size("num_attention_heads");
  decoder.keyHeads = config.size("num_key_value_heads", decoder.heads);
  decoder.vocab = config.size("vocab_size");
  decoder.positions = config.size("max_position_embeddings", 2048);
  if (config.has("head_dim") || headDim)
    decoder.headDim = config.size("head_dim", headDim);
  else if (decoder.dim % decoder.heads == 0)
    decoder.headDim = decoder.dim / decoder.heads;
  else
    config.fail("its " + llvm::Twine(decoder.heads) +
                " heads do not divide its " + llvm::Twine(decoder.dim) +
                " channels");
  config.accept("head_dim");
}

void anec::setKinds(Decoder &decoder, const LayerKind &kind) {
  decoder.kinds.assign(size_t(decoder.layers), kind);
}

void anec::setWindows(Decoder &decoder, const std::vector<bool> &windowed,
                      int64_t size) {
  for (size_t layer = 0; layer < windowed.size(); ++layer)
    decoder.kinds[layer].window = windowed[layer] ? size : 0;
}

//===----------------------------------------------------------------------===//
// The family of a model
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
  else if (decoder.epsilon > 1) // more than norms take
    config.fail("the epsilon of its norms is above 1");
  else if (decoder.layers > 10000)
    config.fail("it has more than 10000 layers");
  else if (!canWriteKinds(decoder.kinds))
    config.fail("the rotary embeddings of its layers are scaled in several "
                "ways");
}

const Family *anec::readDecoder(const json::Object &object, StringRef path,
                                ArrayRef<std::string> ignoredKeys,
                                Decoder &decoder, Diagnostics &diags,
                                const ConfigNames &names) {
  const Family *family = familyOf(object, path, diags);
  if (!family)
    return nullptr;
  decoder.family = family->name.str();
  ConfigReader config(object, path, ignoredKeys, diags, names);
  family->read(config, decoder);
  checkSizes(decoder, config);
  return config.finish() ? family : nullptr;
}
