//===- Families.cpp - the families of models ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"

using namespace anec;

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

void anec::readSizes(ConfigReader &config, Decoder &decoder) {
  decoder.layers = config.size("num_hidden_layers");
  decoder.dim = config.size("hidden_size");
  decoder.hidden = config.size("intermediate_size");
  decoder.heads = config.size("num_attention_heads");
  decoder.keyHeads = config.size("num_key_value_heads", decoder.heads);
  decoder.vocab = config.size("vocab_size");
  decoder.positions = config.size("max_position_embeddings", 2048);
  if (config.has("head_dim"))
    decoder.headDim = config.size("head_dim");
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
