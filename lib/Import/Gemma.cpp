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

static void readCommon(ConfigReader &config, Decoder &decoder) {
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
  readCommon(config, decoder);
  decoder.scoreCap = config.numberOrZero("attn_logit_softcapping", 50);
  decoder.logitCap = config.numberOrZero("final_logit_softcapping", 30);
  setKinds(decoder, {0, config.rotary(decoder.headDim, 10000)});
  std::vector<bool> windowed = config.windowedLayers(decoder.layers);
  if (windowed.empty())
    for (int64_t layer = 0; layer < decoder.layers; ++layer)
      windowed.push_back(layer % 2 == 0);
  setWindows(decoder, windowed, config.size("sliding_window", 4096));
}

void anec::readGemma3(ConfigReader &config, Decoder &decoder) {
  readCommon(config, decoder);
  decoder.hasHeadNorms = true;
  decoder.scoreCap = config.numberOrZero("attn_logit_softcapping");
  decoder.logitCap = config.numberOrZero("final_logit_softcapping");
  LayerKind far = {0, config.rotary(decoder.headDim, 1000000)};
  LayerKind near = far;
  near.window = config.size("sliding_window", 4096);
  double localTheta = config.number("rope_local_base_freq", 10000);
  // `rope_scaling` is of the layers without a window.
  if (config.has("rope_parameters"))
    near.rotary =
        config.rotary(decoder.headDim, localTheta, "sliding_attention");
  else
    near.rotary = {far.rotary.channels, localTheta, {}};
  std::vector<bool> windowed = config.windowedLayers(decoder.layers);
  // Newer files keep the pattern under the other name, beside `layer_types`.
  config.accept("_sliding_window_pattern");
  int64_t pattern = config.size(config.has("_sliding_window_pattern")
                                    ? "_sliding_window_pattern"
                                    : "sliding_window_pattern",
                                6);
  if (windowed.empty())
    for (int64_t layer = 0; layer < decoder.layers; ++layer)
      windowed.push_back((layer + 1) % pattern != 0);
  for (bool isNear : windowed)
    decoder.kinds.push_back(isNear ? near : far);
}
