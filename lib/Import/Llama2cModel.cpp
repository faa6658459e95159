//===- Llama2cModel.cpp - checkpoints of llama2.c as models ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Llama2cModel.h"
#include "ImportedModel.h"

using namespace anec;
using R = WeightRole;

static constexpr ArrayName llama2cArrayNames[] = {
    {R::Embedding, "tok_embeddings.weight"},
    {R::AttentionNorm, "layers.#.attention_norm.weight"},
    {R::Query, "layers.#.attention.wq.weight"},
    {R::Key, "layers.#.attention.wk.weight"},
    {R::Value, "layers.#.attention.wv.weight"},
    {R::Output, "layers.#.attention.wo.weight"},
    {R::FeedForwardNorm, "layers.#.ffn_norm.weight"},
    {R::Gate, "layers.#.feed_forward.w1.weight"},
    {R::Down, "layers.#.feed_forward.w2.weight"},
    {R::Up, "layers.#.feed_forward.w3.weight"},
    {R::Norm, "norm.weight"},
    {R::Classifier, "output.weight"},
};

llvm::ArrayRef<ArrayName> anec::llama2cArrays() { return llama2cArrayNames; }

Decoder anec::decoderOf(const Llama2cFile &file) {
  Decoder decoder;
  decoder.family = "llama";
  decoder.layers = file.layers;
  decoder.dim = file.dim;
  decoder.hidden = file.hidden;
  decoder.heads = file.heads;
  decoder.keyHeads = file.keyHeads;
  decoder.headDim = file.dim / file.heads;
  decoder.vocab = file.vocab;
  decoder.positions = file.positions;
  decoder.hasClassifier = !file.tied;
  // What llama2.c's programs compute with, whatever the weights are.
  decoder.epsilon = 1e-5;
  decoder.ropeStyle = RopeStyle::Interleaved;
  setKinds(decoder, {0, {decoder.headDim, 10000, {}}});
  return decoder;
}

Llama2cFile anec::llama2cSizes(const Decoder &decoder) {
  Llama2cFile file;
  file.dim = decoder.dim;
  file.hidden = decoder.hidden;
  file.layers = decoder.layers;
  file.heads = decoder.heads;
  file.keyHeads = decoder.keyHeads;
  file.vocab = decoder.vocab;
  file.positions = decoder.positions;
  file.tied = !decoder.hasClassifier;
  return file;
}

std::optional<ImportedModel> anec::readLlama2cModel(const MappedFile &file,
                                                    llvm::StringRef path,
                                                    Diagnostics &diags) {
  std::optional<Llama2cFile> contents = readLlama2c(file, path, diags);
  if (!contents)
    return std::nullopt;
  ImportedModel model;
  model.decoder = decoderOf(*contents);
  // The arrays have the shapes that the sizes give them.
  model.weights = matchWeights({llama2cArrayNames, {}}, model.decoder, "");
  return model;
}
