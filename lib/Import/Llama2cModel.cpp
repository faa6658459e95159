//===- Llama2cModel.cpp - checkpoints of llama2.c as models ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "ImportedModel.h"
#include "lib/Arrays/Llama2c.h"

using namespace anec;
using R = WeightRole;

static constexpr ArrayName arrayNames[] = {
    {R::Embedding, "tok_embeddings.weight"},
    {R::Norm, "norm.weight"},
    {R::Classifier, "output.weight"},
    {R::AttentionNorm, "layers.#.attention_norm.weight"},
    {R::Query, "layers.#.attention.wq.weight"},
    {R::Key, "layers.#.attention.wk.weight"},
    {R::Value, "layers.#.attention.wv.weight"},
    {R::Output, "layers.#.attention.wo.weight"},
    {R::FeedForwardNorm, "layers.#.ffn_norm.weight"},
    {R::Gate, "layers.#.feed_forward.w1.weight"},
    {R::Up, "layers.#.feed_forward.w3.weight"},
    {R::Down, "layers.#.feed_forward.w2.weight"},
};

std::optional<ImportedModel> anec::readLlama2cModel(const MappedFile &file,
                                                    llvm::StringRef path,
                                                    Diagnostics &diags) {
  std::optional<Llama2cFile> contents = readLlama2c(file, path, diags);
  if (!contents)
    return std::nullopt;
  ImportedModel model;
  Decoder &decoder = model.decoder;
  decoder.family = "llama";
  decoder.layers = contents->layers;
  decoder.dim = contents->dim;
  decoder.hidden = contents->hidden;
  decoder.heads = contents->heads;
  decoder.keyHeads = contents->keyHeads;
  decoder.headDim = contents->dim / contents->heads;
  decoder.vocab = contents->vocab;
  decoder.positions = contents->positions;
  decoder.hasClassifier = !contents->tied;
  // What llama2.c's programs compute with, whatever the weights are.
  decoder.epsilon = 1e-5;
  decoder.isInterleaved = true;
  setKinds(decoder, {0, {decoder.headDim, 10000, {}}});
  // The arrays have the shapes that the sizes give them.
  model.weights = matchWeights({arrayNames, {}}, decoder, "");
  return model;
}
