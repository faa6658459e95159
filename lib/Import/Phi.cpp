//===- Phi.cpp - Phi-1, 2 and 3 -------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"

using namespace anec;
using R = WeightRole;

llvm::ArrayRef<ArrayName> anec::phiArrays() {
  static constexpr ArrayName names[] = {
      {R::Norm, "final_layernorm.weight"},
      {R::NormBias, "final_layernorm.bias"},
      {R::QueryNorm, "layers.#.self_attn.q_layernorm.weight"},
      {R::QueryNormBias, "layers.#.self_attn.q_layernorm.bias"},
      {R::KeyNorm, "layers.#.self_attn.k_layernorm.weight"},
      {R::KeyNormBias, "layers.#.self_attn.k_layernorm.bias"},
      {R::Output, "layers.#.self_attn.dense.weight"},
      {R::OutputBias, "layers.#.self_attn.dense.bias"},
      {R::Gate, "layers.#.mlp.fc1.weight"},
      {R::GateBias, "layers.#.mlp.fc1.bias"},
      {R::Down, "layers.#.mlp.fc2.weight"},
      {R::DownBias, "layers.#.mlp.fc2.bias"},
  };
  return names;
}

void anec::readPhi(ConfigReader &config, Decoder &decoder) {
  readSizes(config, decoder);
  decoder.epsilon = config.number("layer_norm_eps", 1e-5);
  decoder.activation = config.activation("hidden_act", "gelu_new");
  decoder.norm = Normalization::Layer;
  decoder.isParallel = true;
  decoder.isGated = false;
  decoder.hasQkvBias = decoder.hasOutputBias = decoder.hasFeedForwardBias =
      decoder.hasClassifierBias = true;
  decoder.hasClassifier = !config.flag("tie_word_embeddings", false);
  decoder.hasHeadNorms = config.flag("qk_layernorm", false);
  RotaryForm form;
  form.part = 0.5;
  setKinds(decoder, {0, config.rotary(decoder.headDim, 10000, form)});
}

void anec::readPhi3(ConfigReader &config, Decoder &decoder) {
  readSizes(config, decoder);
  decoder.epsilon = config.number("rms_norm_eps", 1e-5);
  decoder.activation = config.activation("hidden_act", "silu");
  decoder.isQkvFused = true;
  decoder.isGateUpFused = true;
  decoder.hasClassifier = !config.flag("tie_word_embeddings", false);
  RotaryForm form;
  form.part = 1;
  form.original = 4096;
  form.isLongOnly = true;
  setKinds(decoder, {0, config.rotary(decoder.headDim, 10000, form)});
  if (config.has("sliding_window"))
    setWindows(decoder, std::vector<bool>(decoder.kinds.size(), true),
               config.size("sliding_window"));
}
