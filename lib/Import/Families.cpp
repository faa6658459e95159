//===- Families.cpp - the families of models ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "LayerCalls.h"
#include "lib/Import/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Names of arrays
//===----------------------------------------------------------------------===//

llvm::ArrayRef<ArrayName> anec::folderArrays() {
  using R = WeightRole;
  static constexpr ArrayName names[] = {
      {R::Embedding, "embed_tokens.weight"},
      {R::Norm, "norm.weight"},
      {R::Classifier, "lm_head.weight"},
      {R::ClassifierBias, "lm_head.bias"},
      {R::AttentionNorm, "layers.#.input_layernorm.weight"},
      {R::AttentionNormBias, "layers.#.input_layernorm.bias"},
      {R::Query, "layers.#.self_attn.q_proj.weight"},
      {R::Key, "layers.#.self_attn.k_proj.weight"},
      {R::Value, "layers.#.self_attn.v_proj.weight"},
      {R::QueryKeyValue, "layers.#.self_attn.qkv_proj.weight"},
      {R::QueryBias, "layers.#.self_attn.q_proj.bias"},
      {R::KeyBias, "layers.#.self_attn.k_proj.bias"},
      {R::ValueBias, "layers.#.self_attn.v_proj.bias"},
      {R::QueryNorm, "layers.#.self_attn.q_norm.weight"},
      {R::KeyNorm, "layers.#.self_attn.k_norm.weight"},
      {R::Output, "layers.#.self_attn.o_proj.weight"},
      {R::OutputBias, "layers.#.self_attn.o_proj.bias"},
      {R::FeedForwardNorm, "layers.#.post_attention_layernorm.weight"},
      {R::Gate, "layers.#.mlp.gate_proj.weight"},
      {R::Up, "layers.#.mlp.up_proj.weight"},
      {R::GateUp, "layers.#.mlp.gate_up_proj.weight"},
      {R::Down, "layers.#.mlp.down_proj.weight"},
      {R::GateBias, "layers.#.mlp.gate_proj.bias"},
      {R::UpBias, "layers.#.mlp.up_proj.bias"},
      {R::DownBias, "layers.#.mlp.down_proj.bias"},
  };
  return names;
}

llvm::StringRef ArrayNames::of(WeightRole role) const {
  for (ArrayRef<ArrayName> rows : {own, shared})
    for (const ArrayName &row : rows)
      if (row.role == role)
        return row.pattern;
  llvm_unreachable("a weight that the family lacks");
}

llvm::ArrayRef<Family> anec::families() {
  static const ArrayNames usual = {folderArrays(), {}};
  static const ArrayNames gemma = {folderArrays(), gemmaArrays()};
  static const Family rows[] = {
      {"gemma2", readGemma2, gemma, "model."},
      {"gemma3_text", readGemma3, gemma, "model."},
      {"gpt2", readGpt2, {gpt2Arrays(), {}}, "transformer."},
      {"llama", readLlama, usual, "model."},
      {"mistral", readMistral, usual, "model."},
      {"phi", readPhi, {folderArrays(), phiArrays()}, "model."},
      {"phi3", readPhi3, usual, "model."},
      {"qwen2", readQwen2, usual, "model."},
      {"qwen3", readQwen3, usual, "model."},
      {"smollm3", readSmolLM3, usual, "model."},
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
  decoder.layers = config.layers("num_hidden_layers");
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
    config.failToDivide(decoder.dim, "channels", decoder.heads, "heads");
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
    config.failToDivide(decoder.heads, "heads", decoder.keyHeads,
                        "heads of keys");
  else if (product(decoder.heads + 2 * decoder.keyHeads, decoder.headDim) ||
           decoder.hidden > INT32_MAX / 2)
    config.fail("its heads, or its hidden channels, are too many");
  else if (decoder.epsilon > 1) // more than norms take
    config.fail("the epsilon of its norms is above 1");
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
