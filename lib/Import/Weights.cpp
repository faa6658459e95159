//===- Weights.cpp - the weights of a language model ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"

using namespace anec;

Shape DecoderWeight::shape() const {
  Shape shape;
  for (const Extent &extent : extents)
    shape.push_back(extent.size);
  return shape;
}

std::string DecoderWeight::nameOf(int64_t layer) const {
  return block + (isOfLayer ? "." + std::to_string(layer) : "") + "." + name;
}

namespace {

/// Collects the weights of one decoder.
class Collector {
public:
  explicit Collector(const Decoder &decoder) : decoder(decoder) {}

  std::vector<DecoderWeight> collect();

private:
  using R = WeightRole;

  void add(WeightRole role, llvm::StringRef name,
           llvm::SmallVector<Extent, 2> extents) {
    weights.push_back({role, block, name.str(), isOfLayer, std::move(extents)});
  }
  /// A matrix [outputs, inputs].
  void matrix(WeightRole role, llvm::StringRef name, const Extent &outputs,
              const Extent &inputs) {
    add(role, name,
        decoder.isTransposed ? llvm::SmallVector<Extent, 2>{inputs, outputs}
                             : llvm::SmallVector<Extent, 2>{outputs, inputs});
  }
  void norm(WeightRole role, WeightRole bias, llvm::StringRef name,
            const Extent &width) {
    add(role, name, {width});
    if (decoder.norm == Normalization::Layer)
      add(bias, name.str() + "_bias", {width});
  }
  void attention();
  void feedForward();

  const Decoder &decoder;
  std::vector<DecoderWeight> weights;
  std::string block;
  bool isOfLayer = true;
  const Extent dim = {"dim", decoder.dim}, hidden = {"hidden", decoder.hidden},
               vocab = {"vocab", decoder.vocab};
};

} // namespace

void Collector::attention() {
  const Extent queries = {"heads * head_dim", decoder.heads * decoder.headDim},
               keys = {"kv_heads * head_dim",
                       decoder.keyHeads * decoder.headDim},
               all = {"(heads + 2 * kv_heads) * head_dim",
                      queries.size + 2 * keys.size},
               width = {"head_dim", decoder.headDim};
  block = decoder.isParallel ? "block" : "attention";
  norm(R::AttentionNorm, R::AttentionNormBias, "norm", dim);
  if (decoder.isQkvFused) {
    matrix(R::QueryKeyValue, "wqkv", all, dim);
    if (decoder.hasQkvBias)
      add(R::QueryKeyValueBias, "bqkv", {all});
  } else {
    matrix(R::Query, "wq", queries, dim);
    matrix(R::Key, "wk", keys, dim);
    matrix(R::Value, "wv", keys, dim);
    if (decoder.hasQkvBias) {
      add(R::QueryBias, "bq", {queries});
      add(R::KeyBias, "bk", {keys});
      add(R::ValueBias, "bv", {keys});
    }
  }
  if (decoder.hasHeadNorms) {
    norm(R::QueryNorm, R::QueryNormBias, "q_norm", width);
    norm(R::KeyNorm, R::KeyNormBias, "k_norm", width);
  }
  matrix(R::Output, "wo", dim, queries);
  if (decoder.hasOutputBias)
    add(R::OutputBias, "bo", {dim});
  if (decoder.hasPostNorms)
    add(R::AttentionPostNorm, "post_norm", {dim});
}

void Collector::feedForward() {
  if (!decoder.isParallel) {
    block = "feed_forward";
    norm(R::FeedForwardNorm, R::FeedForwardNormBias, "norm", dim);
  }
  if (decoder.isGateUpFused) {
    matrix(R::GateUp, "w13", {"2 * hidden", 2 * decoder.hidden}, dim);
  } else {
    matrix(R::Gate, "w1", hidden, dim);
    if (decoder.isGated)
      matrix(R::Up, "w3", hidden, dim);
  }
  matrix(R::Down, "w2", dim, hidden);
  if (decoder.hasFeedForwardBias) {
    add(R::GateBias, "b1", {hidden});
    if (decoder.isGated)
      add(R::UpBias, "b3", {hidden});
    add(R::DownBias, "b2", {dim});
  }
  if (decoder.hasPostNorms)
    add(R::FeedForwardPostNorm, "post_norm", {dim});
}

std::vector<DecoderWeight> Collector::collect() {
  attention();
  feedForward();
  block = decoder.family;
  isOfLayer = false;
  add(R::Embedding, "embedding", {vocab, dim});
  if (decoder.hasClassifier)
    add(R::Classifier, "classifier", {vocab, dim});
  if (decoder.hasClassifierBias)
    add(R::ClassifierBias, "classifier_bias", {vocab});
  if (decoder.hasPositions)
    add(R::Positions, "positions", {{"max_positions", decoder.positions}, dim});
  norm(R::Norm, R::NormBias, "norm", dim);
  return std::move(weights);
}

std::vector<DecoderWeight> anec::weightsOf(const Decoder &decoder) {
  return Collector(decoder).collect();
}
