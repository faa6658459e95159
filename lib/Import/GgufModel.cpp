//===- GgufModel.cpp - models in GGUF files -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The arrays of all architectures have the same names. Where llama.cpp's
/// converter has changed an array, the program is another one than that of the
/// folder: norms by w instead of 1 + w, matrices as [outputs, inputs], rotary
/// pairs of neighbours.
///
//===----------------------------------------------------------------------===//

#include "GgufConfig.h"
#include "ImportedModel.h"
#include "lib/Import/Diags.h"

using namespace anec;
using namespace llvm;
using R = WeightRole;

static constexpr ArrayName ggufArrayNames[] = {
    {R::Embedding, "token_embd.weight"},
    {R::Positions, "position_embd.weight"},
    {R::Norm, "output_norm.weight"},
    {R::NormBias, "output_norm.bias"},
    {R::Classifier, "output.weight"},
    {R::ClassifierBias, "output.bias"},
    {R::AttentionNorm, "blk.#.attn_norm.weight"},
    {R::AttentionNormBias, "blk.#.attn_norm.bias"},
    {R::Query, "blk.#.attn_q.weight"},
    {R::Key, "blk.#.attn_k.weight"},
    {R::Value, "blk.#.attn_v.weight"},
    {R::QueryKeyValue, "blk.#.attn_qkv.weight"},
    {R::QueryBias, "blk.#.attn_q.bias"},
    {R::KeyBias, "blk.#.attn_k.bias"},
    {R::ValueBias, "blk.#.attn_v.bias"},
    {R::QueryKeyValueBias, "blk.#.attn_qkv.bias"},
    {R::QueryNorm, "blk.#.attn_q_norm.weight"},
    {R::KeyNorm, "blk.#.attn_k_norm.weight"},
    {R::Output, "blk.#.attn_output.weight"},
    {R::OutputBias, "blk.#.attn_output.bias"},
    {R::AttentionPostNorm, "blk.#.post_attention_norm.weight"},
    {R::FeedForwardNorm, "blk.#.ffn_norm.weight"},
    {R::FeedForwardNormBias, "blk.#.ffn_norm.bias"},
    {R::Gate, "blk.#.ffn_gate.weight"},
    {R::Up, "blk.#.ffn_up.weight"},
    {R::GateUp, "blk.#.ffn_up.weight"},
    {R::GateBias, "blk.#.ffn_gate.bias"},
    {R::UpBias, "blk.#.ffn_up.bias"},
    {R::Down, "blk.#.ffn_down.weight"},
    {R::DownBias, "blk.#.ffn_down.bias"},
    {R::FeedForwardPostNorm, "blk.#.post_ffw_norm.weight"},
};

ArrayRef<ArrayName> anec::ggufArrays() { return ggufArrayNames; }

/// Without a gate, the first matrix of feed-forward is called as the other one
/// is with a gate.
static constexpr ArrayName namesWithoutGate[] = {
    {R::Gate, "blk.#.ffn_up.weight"},
    {R::GateBias, "blk.#.ffn_up.bias"},
};

/// What the arrays say, and not the metadata.
static void applyArrays(const ArraySource &arrays, Decoder &decoder) {
  auto has = [&](StringRef name) { return arrays.find(name) != nullptr; };
  decoder.isQkvFused = has("blk.0.attn_qkv.weight");
  decoder.hasQkvBias = has("blk.0.attn_q.bias") || has("blk.0.attn_qkv.bias");
  decoder.hasOutputBias = has("blk.0.attn_output.bias");
  decoder.hasFeedForwardBias = has("blk.0.ffn_down.bias");
  decoder.hasClassifierBias = has("output.bias");
}

std::optional<ImportedModel> anec::readGgufModel(const MappedFile &file,
                                                 StringRef path,
                                                 const ImportOptions &options,
                                                 Diagnostics &diags) {
  std::optional<GgufFile> contents = readGguf(file, path, diags);
  std::optional<ArraySource> arrays =
      contents ? ArraySource::read(file, path, diags) : std::nullopt;
  std::optional<GgufConfig> config =
      arrays ? configOfGguf(*contents, *arrays, options.ignoredKeys, diags)
             : std::nullopt;
  ImportedModel model;
  Decoder &decoder = model.decoder;
  if (!config ||
      !readDecoder(config->object, path, {}, decoder, diags, config->names) ||
      !fitsPositions(decoder, options, path, diags))
    return std::nullopt;
  applyArrays(*arrays, decoder);
  decoder.ropeStyle = config->architecture->ropeStyle;
  decoder.isTransposed = false;
  if (decoder.norm == Normalization::RmsPlusOne)
    decoder.norm = Normalization::Rms;
  ArrayNames names = {ggufArrayNames, {}};
  if (!decoder.isGated)
    names.own = namesWithoutGate;
  model.weights = matchWeights(names, decoder, "");
  if (!checkWeights(model.weights, "its metadata", config->arrays, *arrays,
                    diags))
    return std::nullopt;
  if (options.tokenizer.empty())
    return model;
  std::string wrong;
  model.file = file;
  model.tokenizer = GgufTokenizer::read(*contents, wrong);
  if (!model.tokenizer) {
    diags.reportFile(path, diag::NoTokenizerToWrite, wrong);
    return std::nullopt;
  }
  return model;
}
