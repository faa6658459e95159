//===- LlamaNames.cpp - what the weights of a Llama are called ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/LlamaWeights.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace llvm;

StringRef anec::spelling(WeightFormat format) {
  switch (format) {
  case WeightFormat::Anec:
    return "anec";
  case WeightFormat::HuggingFace:
    return "hf";
  case WeightFormat::Llama2c:
    return "llama2c";
  }
  llvm_unreachable("not a format of weights");
}

StringRef anec::spelling(RopeStyle style) {
  return style == RopeStyle::HalfSplit ? "half_split" : "interleaved";
}

std::optional<RopeStyle> anec::ropeStyleOf(const ModelFacts &facts) {
  std::optional<std::string> known = facts.only(fact::ropeStyle);
  for (RopeStyle style : {RopeStyle::Interleaved, RopeStyle::HalfSplit})
    if (known && *known == spelling(style))
      return style;
  return std::nullopt;
}

namespace {
/// The text before and after the number of the layer, or the whole name. anec's
/// names of weights outside layers start with the name of the model.
struct RoleNames {
  bool isOfLayer;
  StringLiteral anecPrefix, anecName, huggingFace;
};
} // namespace

static constexpr RoleNames roleNames[llamaRoles] = {
    {false, "", "embedding", "model.embed_tokens.weight"},
    {true, "attention", "norm", "input_layernorm.weight"},
    {true, "attention", "wq", "self_attn.q_proj.weight"},
    {true, "attention", "wk", "self_attn.k_proj.weight"},
    {true, "attention", "wv", "self_attn.v_proj.weight"},
    {true, "attention", "wo", "self_attn.o_proj.weight"},
    {true, "feed_forward", "norm", "post_attention_layernorm.weight"},
    {true, "feed_forward", "w1", "mlp.gate_proj.weight"},
    {true, "feed_forward", "w2", "mlp.down_proj.weight"},
    {true, "feed_forward", "w3", "mlp.up_proj.weight"},
    {false, "", "norm", "model.norm.weight"},
    {false, "", "classifier", "lm_head.weight"},
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
