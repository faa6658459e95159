//===- Llama.cpp - models that are made like Llama ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Llama, and its relatives Mistral, Qwen2, Qwen3 and SmolLM3. Defaults of keys
/// are those of transformers' configuration_llama.py and so on.
///
//===----------------------------------------------------------------------===//

#include "Families.h"

using namespace anec;

/// What all of them have.
static void readCommon(ConfigReader &config, Decoder &decoder, double theta,
                       bool tied, int64_t headDim = 0) {
  readSizes(config, decoder, headDim);
  decoder.epsilon = config.number("rms_norm_eps", 1e-6);
  decoder.activation = config.activation("hidden_act", "silu");
  decoder.hasClassifier = !config.flag("tie_word_embeddings", tied);
  setKinds(decoder, {0, config.rotary(decoder.headDim, theta)});
}

void anec::readLlama(ConfigReader &config, Decoder &decoder) {
  readCommon(config, decoder, 10000, false);
  decoder.hasQkvBias = decoder.hasOutputBias =
      config.flag("attention_bias", false);
  decoder.hasFeedForwardBias = config.flag("mlp_bias", false);
}

void anec::readMistral(ConfigReader &config, Decoder &decoder) {
  readCommon(config, decoder, 10000, false);
  setWindows(decoder, std::vector<bool>(decoder.kinds.size(), true),
             config.sizeOrNull("sliding_window", 4096, 0));
}

/// The layers from `max_window_layers` on have a window, if any has.
static void readWindows(ConfigReader &config, Decoder &decoder) {
  bool usesWindow = config.flag("use_sliding_window", false);
  std::vector<bool> windowed = config.windowedLayers(decoder.layers);
  config.accept("sliding_window");
  int64_t size = usesWindow ? config.sizeOrNull("sliding_window", 4096, 0) : 0;
  if (size == 0)
    return;
  if (windowed.empty()) {
    int64_t first = config.count("max_window_layers", 28);
    for (int64_t layer = 0; layer < decoder.layers; ++layer)
      windowed.push_back(layer >= first);
  }
  setWindows(decoder, windowed, size);
}

void anec::readQwen2(ConfigReader &config, Decoder &decoder) {
  readCommon(config, decoder, 10000, false);
  decoder.hasQkvBias = true;
  config.accept("attention_bias"); // Qwen2 has these whatever it says.
  readWindows(config, decoder);
}

void anec::readQwen3(ConfigReader &config, Decoder &decoder) {
  readCommon(config, decoder, 10000, false, 128);
  decoder.hasHeadNorms = true;
  decoder.hasQkvBias = decoder.hasOutputBias =
      config.flag("attention_bias", false);
  readWindows(config, decoder);
}

void anec::readSmolLM3(ConfigReader &config, Decoder &decoder) {
  readCommon(config, decoder, 2000000, true);
  decoder.hasQkvBias = decoder.hasOutputBias =
      config.flag("attention_bias", false);
  decoder.hasFeedForwardBias = config.flag("mlp_bias", false);
  // A 0 says that a layer is without rotary embedding.
  std::vector<int64_t> rotates =
      config.integers("no_rope_layers", decoder.layers);
  int64_t interval = config.size("no_rope_layer_interval", 4);
  for (int64_t layer = 0; layer < decoder.layers; ++layer)
    if (rotates.empty() ? (layer + 1) % interval == 0 : !rotates[layer])
      decoder.kinds[layer].rotary.channels = 0;
  bool usesWindow = config.flag("use_sliding_window", false);
  std::vector<bool> windowed = config.windowedLayers(decoder.layers);
  config.accept("sliding_window");
  int64_t size = usesWindow ? config.sizeOrNull("sliding_window", 0, 0) : 0;
  if (size == 0)
    return;
  // By default, the layers with rotary embedding keep all positions.
  if (windowed.empty())
    for (const LayerKind &kind : decoder.kinds)
      windowed.push_back(kind.rotary.channels == 0);
  setWindows(decoder, windowed, size);
}
