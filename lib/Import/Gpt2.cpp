//===- Gpt2.cpp - GPT-2 ---------------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"

using namespace anec;
using R = WeightRole;

llvm::ArrayRef<ArrayName> anec::gpt2Arrays() {
  static constexpr ArrayName names[] = {
      {R::Embedding, "wte.weight"},
      {R::Positions, "wpe.weight"},
      {R::Norm, "ln_f.weight"},
      {R::NormBias, "ln_f.bias"},
      {R::Classifier, "lm_head.weight"},
      {R::AttentionNorm, "h.#.ln_1.weight"},
      {R::AttentionNormBias, "h.#.ln_1.bias"},
      {R::QueryKeyValue, "h.#.attn.c_attn.weight"},
      {R::QueryKeyValueBias, "h.#.attn.c_attn.bias"},
      {R::Output, "h.#.attn.c_proj.weight"},
      {R::OutputBias, "h.#.attn.c_proj.bias"},
      {R::FeedForwardNorm, "h.#.ln_2.weight"},
      {R::FeedForwardNormBias, "h.#.ln_2.bias"},
      {R::Gate, "h.#.mlp.c_fc.weight"},
      {R::GateBias, "h.#.mlp.c_fc.bias"},
      {R::Down, "h.#.mlp.c_proj.weight"},
      {R::DownBias, "h.#.mlp.c_proj.bias"},
  };
  return names;
}

void anec::readGpt2(ConfigReader &config, Decoder &decoder) {
  decoder.layers = config.layers("n_layer");
  decoder.dim = config.size("n_embd");
  decoder.heads = decoder.keyHeads = config.size("n_head");
  decoder.hidden = config.size("n_inner", 4 * decoder.dim);
  decoder.vocab = config.size("vocab_size");
  decoder.positions = config.has("n_positions") ? config.size("n_positions")
                                                : config.size("n_ctx", 1024);
  config.accept("n_positions");
  config.accept("n_ctx"); // an older name of it
  if (decoder.dim % decoder.heads == 0)
    decoder.headDim = decoder.dim / decoder.heads;
  else
    config.failToDivide(decoder.dim, "channels", decoder.heads, "heads");
  decoder.epsilon = config.number("layer_norm_epsilon", 1e-5);
  decoder.activation = config.activation("activation_function", "gelu_new");
  decoder.hasClassifier = !config.flag("tie_word_embeddings", true);
  if (!config.flag("scale_attn_weights", true))
    decoder.scoreScale = 1;
  decoder.dividesByDepth =
      config.flag("scale_attn_by_inverse_layer_idx", false);
  decoder.norm = Normalization::Layer;
  decoder.isTransposed = true;
  decoder.hasPositions = true;
  decoder.isQkvFused = true;
  decoder.isGated = false;
  decoder.hasQkvBias = decoder.hasOutputBias = decoder.hasFeedForwardBias =
      true;
  setKinds(decoder, {});
}
