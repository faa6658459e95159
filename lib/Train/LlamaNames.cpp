//===- LlamaNames.cpp - what the weights of a Llama are called ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LlamaFormats.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace llvm;

std::optional<RopeStyle> anec::ropeStyleOf(const ModelFacts &facts) {
  std::optional<std::string> known = facts.only(fact::ropeStyle);
  return known ? parseWord<RopeStyle>(*known) : std::nullopt;
}

namespace {
/// The text before and after the number of the layer, or the whole name. anec's
/// names of weights outside layers start with the name of the model.
struct RoleNames {
  bool isOfLayer;
  StringLiteral anecPrefix, anecName, huggingFace, llama2c;
};
} // namespace

static constexpr RoleNames roleNames[llamaRoles] = {
    {false, "", "embedding", "model.embed_tokens.weight",
     "tok_embeddings.weight"},
    {true, "attention", "norm", "input_layernorm.weight",
     "attention_norm.weight"},
    {true, "attention", "wq", "self_attn.q_proj.weight", "attention.wq.weight"},
    {true, "attention", "wk", "self_attn.k_proj.weight", "attention.wk.weight"},
    {true, "attention", "wv", "self_attn.v_proj.weight", "attention.wv.weight"},
    {true, "attention", "wo", "self_attn.o_proj.weight", "attention.wo.weight"},
    {true, "feed_forward", "norm", "post_attention_layernorm.weight",
     "ffn_norm.weight"},
    {true, "feed_forward", "w1", "mlp.gate_proj.weight",
     "feed_forward.w1.weight"},
    {true, "feed_forward", "w2", "mlp.down_proj.weight",
     "feed_forward.w2.weight"},
    {true, "feed_forward", "w3", "mlp.up_proj.weight",
     "feed_forward.w3.weight"},
    {false, "", "norm", "model.norm.weight", "norm.weight"},
    {false, "", "classifier", "lm_head.weight", "output.weight"},
};

bool anec::isOfLayer(LlamaRole role) {
  return roleNames[unsigned(role)].isOfLayer;
}

std::string anec::llamaName(WeightFormat format, LlamaRole role, int64_t layer,
                            StringRef model) {
  const RoleNames &names = roleNames[unsigned(role)];
  std::string number = std::to_string(layer);
  if (format == WeightFormat::HuggingFace)
    return names.isOfLayer
               ? "model.layers." + number + "." + names.huggingFace.str()
               : names.huggingFace.str();
  return names.isOfLayer ? names.anecPrefix.str() + "." + number + "." +
                               names.anecName.str()
                         : model.str() + "." + names.anecName.str();
}

std::string anec::llama2cName(LlamaRole role, int64_t layer) {
  const RoleNames &names = roleNames[unsigned(role)];
  return (names.isOfLayer ? "layers." + std::to_string(layer) + "." : "") +
         names.llama2c.str();
}

Shape LlamaWeights::shapeOf(LlamaRole role) const {
  switch (role) {
  case LlamaRole::Embedding:
  case LlamaRole::Classifier:
    return {vocab, dim};
  case LlamaRole::AttentionNorm:
  case LlamaRole::FeedForwardNorm:
  case LlamaRole::Norm:
    return {dim};
  case LlamaRole::Wq:
    return {queryRows, dim};
  case LlamaRole::Wk:
  case LlamaRole::Wv:
    return {keyRows, dim};
  case LlamaRole::Wo:
    return {dim, queryRows};
  case LlamaRole::W1:
  case LlamaRole::W3:
    return {hidden, dim};
  case LlamaRole::W2:
    return {dim, hidden};
  }
  llvm_unreachable("not a role");
}
