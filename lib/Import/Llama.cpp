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
#include "llvm/ADT/STLExtras.h"

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
  // With `layer_types`, transformers takes it for a Ministral.
  std::vector<bool> windowed = config.windowedLayers(decoder.layers);
  bool isUsed = llvm::is_contained(windowed, true);
  if (windowed.empty())
    windowed.assign(decoder.kinds.size(), true);
  setWindows(decoder, windowed, config.window(4096, isUsed));
}

/// The layers from `max_window_layers` on have a window, if any has.
static void readWindows(ConfigReader &config, Decoder &decoder) {
  bool usesWindow = config.flag("use_sliding_window", false);
  std::vector<bool> windowed = config.windowedLayers(decoder.layers);
  bool isUsed = llvm::is_contained(windowed, true);
  config.accept("sliding_window");
  config.accept("max_window_layers");
  if (isUsed && !usesWindow)
    config.fail("`layer_types` has layers with a window, and "
                "`use_sliding_window` says that none has one");
  int64_t size = usesWindow ? config.window(4096, isUsed) : 0;
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
  bool isNamed = llvm::is_contained(windowed, true);
  if (!isNamed &&
      (!usesWindow || !windowed.empty() || !config.has("sliding_window")))
    return;
  // `layer_types` has the last word. By default, the layers with rotary
  // embedding keep all positions.
  int64_t size = config.window(0, isNamed);
  if (windowed.empty())
    for (const LayerKind &kind : decoder.kinds)
      windowed.push_back(kind.rotary.channels == 0);
  setWindows(decoder, windowed, size);
}
