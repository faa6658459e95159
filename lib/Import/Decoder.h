//===- Decoder.h - what a language model is made of -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A description of a language model that is independent of the file it came
/// from. Families fill it in from their metadata; the program is written from
/// it, and the list of its weights.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_DECODER_H
#define ANEC_LIB_IMPORT_DECODER_H

#include "anec/IR/Type.h"
#include "anec/Package/ModelFacts.h"
#include "lib/Package/RopeScaling.h"

namespace anec {

enum class Normalization : uint8_t {
  Rms,        ///< x / rms(x) * w
  RmsPlusOne, ///< x / rms(x) * (1 + w)
  Layer,      ///< with a mean, and a bias
};

enum class Activation : uint8_t {
  Silu,
  Gelu,
  GeluClipped, ///< to [-10, 10]
  GeluTanh,
  GeluSigmoid,
  Relu,
  ReluSquared,
  Relu6,
  LeakyRelu, ///< 0.01 x below 0
  Sigmoid,
  HardSwish,
  Mish,
  Tanh,
  Laplace,
  SqrtSoftplus,
  Linear, ///< none
};

/// The rotary embedding of a layer.
struct Rotary {
  int64_t channels = 0; ///< of each head; 0: none are rotated
  double theta = 10000;
  RopeScaling scaling;
};

/// What can differ from layer to layer.
struct LayerKind {
  int64_t window = 0; ///< 0 for none
  Rotary rotary;
};

struct Decoder {
  std::string family; ///< also the name of the model in the program

  int64_t layers = 0, dim = 0, hidden = 0, heads = 0, keyHeads = 0;
  int64_t headDim = 0, vocab = 0;
  int64_t positions = 0; ///< that it was made for
  double epsilon = 1e-5;
  Normalization norm = Normalization::Rms;
  /// Attention and feed-forward normalize their results too.
  bool hasPostNorms = false;
  /// Attention and feed-forward have the same input, and one norm.
  bool isParallel = false;

  // The ends.
  bool hasPositions = false;    ///< a learned vector for each position
  bool scalesEmbedding = false; ///< by sqrt(dim)
  bool hasClassifier = false;   ///< one that is not the embedding
  bool hasClassifierBias = false;
  double logitCap = 0; ///< 0 for none

  // Attention.
  bool isQkvFused = false;
  bool hasQkvBias = false, hasOutputBias = false;
  bool hasHeadNorms = false;   ///< of the queries and keys of each head
  double scoreScale = 0;       ///< scores are divided by its root; 0: headDim
  double scoreCap = 0;         ///< 0 for none
  bool dividesByDepth = false; ///< scores, by the number of the layer + 1
  RopeStyle ropeStyle = RopeStyle::HalfSplit;
  std::vector<LayerKind> kinds; ///< of each layer

  // Feed-forward.
  bool isGated = true, isGateUpFused = false, hasFeedForwardBias = false;
  Activation activation = Activation::Silu;

  /// Matrices are stored [inputs, outputs].
  bool isTransposed = false;

  bool rotates() const {
    for (const LayerKind &kind : kinds)
      if (kind.rotary.channels > 0)
        return true;
    return false;
  }
};

/// The purpose of a weight.
enum class WeightRole : uint8_t {
  Embedding,
  Positions,
  Norm,
  NormBias,
  Classifier,
  ClassifierBias,
  AttentionNorm,
  AttentionNormBias,
  Query,
  Key,
  Value,
  QueryKeyValue,
  QueryBias,
  KeyBias,
  ValueBias,
  QueryKeyValueBias,
  QueryNorm,
  QueryNormBias,
  KeyNorm,
  KeyNormBias,
  Output,
  OutputBias,
  AttentionPostNorm,
  FeedForwardNorm,
  FeedForwardNormBias,
  Gate, ///< or the only one, without a gate
  Up,
  GateUp,
  GateBias,
  UpBias,
  Down,
  DownBias,
  FeedForwardPostNorm,
};

/// An extent as the program writes it, and its size.
struct Extent {
  std::string text;
  int64_t size = 0;
};

/// A weight that the program declares.
struct DecoderWeight {
  WeightRole role;
  std::string block; ///< `attention`; the family for those of the model
  std::string name;  ///< `wq`
  bool isOfLayer = true;
  llvm::SmallVector<Extent, 2> extents;

  Shape shape() const;
  /// One for each layer, or one.
  int64_t count(const Decoder &decoder) const {
    return isOfLayer ? decoder.layers : 1;
  }
  /// `attention.3.wq`
  std::string nameOf(int64_t layer) const;
};

/// All weights, in the order of their declarations.
std::vector<DecoderWeight> weightsOf(const Decoder &decoder);

/// What the model computes with its weights, as far as it is a fact.
ModelFacts factsOf(const Decoder &decoder);

/// The text of the program.
std::string programText(const Decoder &decoder, llvm::StringRef elementType,
                        int64_t positions);

} // namespace anec

#endif // ANEC_LIB_IMPORT_DECODER_H
