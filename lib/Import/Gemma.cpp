//===- Gemma.cpp - Gemma 2 and 3 ------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Text models of Gemma 2 and 3: norms by 1 + w before and after each part, a
/// scaled embedding, windows in most layers; Gemma 2 caps its scores, Gemma 3
/// normalizes heads and has another theta in layers with a window.
///
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using R = WeightRole;

llvm::ArrayRef<ArrayName> anec::gemmaArrays() {
  static constexpr ArrayName names[] = {
      {R::AttentionPostNorm, "layers.#.post_attention_layernorm.weight"},
      {R::FeedForwardNorm, "layers.#.pre_feedforward_layernorm.weight"},
      {R::FeedForwardPostNorm, "layers.#.post_feedforward_layernorm.weight"},
  };
  return names;
}

static void readGemma(ConfigReader &config, Decoder &decoder) {
  readSizes(config, decoder, 256);
  decoder.norm = Normalization::RmsPlusOne;
  decoder.hasPostNorms = true;
  decoder.scalesEmbedding = true;
  decoder.epsilon = config.number("rms_norm_eps", 1e-6);
  decoder.activation =
      config.activation("hidden_activation", "gelu_pytorch_tanh");
  // The older name of the same key, which the models do not read.
  config.accept("hidden_act");
  decoder.hasClassifier = !config.flag("tie_word_embeddings", true);
  decoder.hasQkvBias = decoder.hasOutputBias =
      config.flag("attention_bias", false);
  decoder.scoreScale = config.number("query_pre_attn_scalar", 256);
}

void anec::readGemma2(ConfigReader &config, Decoder &decoder) {
  readGemma(config, decoder);
  // Published files have the size of the windows twice.
  config.accept("sliding_window_size");
  decoder.scoreCap = config.numberOrZero("attn_logit_softcapping", 50);
  decoder.logitCap = config.numberOrZero("final_logit_softcapping", 30);
  setKinds(decoder, {0, config.rotary(decoder.headDim, 10000)});
  std::vector<bool> windowed = config.windowedLayers(decoder.layers);
  if (windowed.empty())
    for (int64_t layer = 0; layer < decoder.layers; ++layer)
      windowed.push_back(layer % 2 == 0);
  setWindows(decoder, windowed,
             config.window(4096, llvm::is_contained(windowed, true)));
}

void anec::readGemma3(ConfigReader &config, Decoder &decoder) {
  readGemma(config, decoder);
  decoder.hasHeadNorms = true;
  config.accept("attn_logit_softcapping"); // The models do not read it.
  decoder.logitCap = config.numberOrZero("final_logit_softcapping");
  RotaryForm form;
  form.type = "full_attention";
  LayerKind far = {0, config.rotary(decoder.headDim, 1000000, form)};
  form = {"rope_local_base_freq", "sliding_attention", std::nullopt, 0};
  LayerKind near = {0, config.rotary(decoder.headDim, 10000, form)};
  std::vector<bool> windowed = config.windowedLayers(decoder.layers);
  int64_t pattern = config.size("sliding_window_pattern", 6);
  if (windowed.empty())
    for (int64_t layer = 0; layer < decoder.layers; ++layer)
      windowed.push_back((layer + 1) % pattern != 0);
  near.window = config.window(4096, llvm::is_contained(windowed, true));
  for (bool isNear : windowed)
    decoder.kinds.push_back(isNear ? near : far);
}
