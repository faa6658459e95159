//===- Refused.cpp - operators without a counterpart ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "Schema.h"

using namespace anec;
using namespace anec::onnx;

static constexpr llvm::StringLiteral differs =
    "its result is different in every run; draw the numbers outside and give "
    "them as an input";

// Each sorted by name.

static constexpr RefusedOp onnxOps[] = {
    {"Bernoulli", differs},
    {"DecodeImage", "image files are not decoded"},
    {"ImageDecoder", "image files are not decoded"},
    {"LabelEncoder", "strings have no counterpart"},
    {"MaxRoiPool", "windows with computed places have no counterpart"},
    {"Multinomial", differs},
    {"RandomNormal", differs},
    {"RandomNormalLike", differs},
    {"RandomUniform", differs},
    {"RandomUniformLike", differs},
    {"RegexFullMatch", "strings have no counterpart"},
    {"StringConcat", "strings have no counterpart"},
    {"StringNormalizer", "strings have no counterpart"},
    {"StringSplit", "strings have no counterpart"},
};

static constexpr llvm::StringLiteral loop =
    "generation is a loop around the model; export the model that it calls";
static constexpr llvm::StringLiteral provider =
    "it is of one provider's optimizer; export the model without it";
static constexpr llvm::StringLiteral unknown =
    "it is not read; export the model without onnxruntime's optimizer";

static constexpr RefusedOp microsoftOps[] = {
    {"AttnLSTM", unknown},
    {"BeamSearch", loop},
    {"BiasDropout", "training has no counterpart"},
    {"BiasSoftmax", unknown},
    {"BiasSplitGelu", unknown},
    {"BifurcationDetector", unknown},
    {"BitmaskBiasDropout", "training has no counterpart"},
    {"BitmaskDropout", "training has no counterpart"},
    {"BranchwiseRMSNorm", unknown},
    {"CDist", unknown},
    {"CausalConvWithState", unknown},
    {"ComplexMul", unknown},
    {"ComplexMulConj", unknown},
    {"ConvStateReplay", unknown},
    {"ConvTransposeWithDynamicPads", unknown},
    {"CropAndResize", unknown},
    {"DecoderAttention", provider},
    {"DecoderMaskedMultiHeadAttention", provider},
    {"DecoderMaskedSelfAttention", provider},
    {"DequantizeBFP", provider},
    {"DequantizeWithOrder", provider},
    {"DynamicSparseAttention", unknown},
    {"DynamicTimeWarping", unknown},
    {"EPContext",
     "it holds what another compiler has made; export the model without it"},
    {"EngramGate", unknown},
    {"ExpandDims", unknown},
    {"FusedMatMulActivation", unknown},
    {"GatedAdd", unknown},
    {"GatedDeltaNet", unknown},
    {"GatedDeltaNetStateReplay", unknown},
    {"GatedRMSNorm", unknown},
    {"GatedRelativePositionBias", unknown},
    {"GatherND", unknown},
    {"GatherPacked", provider},
    {"GemmFastGelu", provider},
    {"GemmFloat8", provider},
    {"GemmaRotaryEmbedding", unknown},
    {"GreedySearch", loop},
    {"GridSample", unknown},
    {"GroupNorm", unknown},
    {"HyperConnectionLowRankMix", unknown},
    {"HyperConnectionPostMix", unknown},
    {"HyperConnectionPreMix", unknown},
    {"Inverse", unknown},
    {"Irfft", unknown},
    {"IsAllFinite", unknown},
    {"LinearAttention", unknown},
    {"LinearAttentionGate", unknown},
    {"LongformerAttention", unknown},
    {"MRotaryEmbedding", unknown},
    {"Mamba2Verify", unknown},
    {"MatMulBlockQuantizedFp4Weight", provider},
    {"MatMulBlockQuantizedFp8Weight", provider},
    {"MatMulBnb4", unknown},
    {"MatMulFpQ4", provider},
    {"MatMulInteger16", unknown},
    {"MatMulNBitsMlp", unknown},
    {"MatMulNBitsQLoRA", unknown},
    {"MatMulNBitsQkv", unknown},
    {"MatMulPacked", provider},
    {"MaxpoolWithMask", unknown},
    {"MoE", unknown},
    {"MoEGroupRouter", unknown},
    {"MoEPacked", provider},
    {"MulInteger", unknown},
    {"MurmurHash3", unknown},
    {"NGramHashMapping", unknown},
    {"NGramRepeatBlock", unknown},
    {"NhwcConv", unknown},
    {"NhwcFusedConv", unknown},
    {"PackedAttention", provider},
    {"PackedMultiHeadAttention", provider},
    {"PackedSparseAttentionIndexer", provider},
    {"PackedSparseAttentionIndexerMerge", provider},
    {"Pad", unknown},
    {"PagedAttention", provider},
    {"QEmbedLayerNormalization", unknown},
    {"QMoE", unknown},
    {"QOrderedAttention", provider},
    {"QOrderedGelu", provider},
    {"QOrderedLayerNormalization", provider},
    {"QOrderedLongformerAttention", provider},
    {"QOrderedMatMul", provider},
    {"QuantizeBFP", provider},
    {"QuantizeWithOrder", provider},
    {"RMSNormRotary", unknown},
    {"Range", unknown},
    {"ReduceSumInteger", unknown},
    {"RelativePositionBias", unknown},
    {"RemovePadding", provider},
    {"RestorePadding", provider},
    {"Rfft", unknown},
    {"RouterGateUpProj", unknown},
    {"SampleOp", unknown},
    {"Sampling", loop},
    {"ScaledSiLU", unknown},
    {"SkipGroupNorm", unknown},
    {"Snpe",
     "it holds what another compiler has made; export the model without it"},
    {"SparseAttention", unknown},
    {"SparseAttentionIndexer", unknown},
    {"SparsePagedAttention", provider},
    {"SparseToDenseMatMul", unknown},
    {"SpeculativePrefixCommit", unknown},
    {"SwiGLU", unknown},
    {"Tokenizer", "strings and their embeddings have no counterpart"},
    {"TorchEmbedding", unknown},
    {"Trilu", unknown},
    {"UnfoldTensor", unknown},
    {"Unique", unknown},
    {"VarlenCausalConvWithState", provider},
    {"VarlenNGramHashMapping", provider},
    {"WhisperBeamSearch", loop},
    {"WordConvEmbedding", "strings and their embeddings have no counterpart"},
};

static constexpr llvm::StringLiteral classical =
    "trees and other classical models have no counterpart";

static constexpr RefusedOp classicalOps[] = {
    {"ArrayFeatureExtractor", classical},
    {"Binarizer", classical},
    {"CastMap", classical},
    {"CategoryMapper", classical},
    {"DictVectorizer", classical},
    {"FeatureVectorizer", classical},
    {"Imputer", classical},
    {"LabelEncoder", classical},
    {"LinearClassifier", classical},
    {"LinearRegressor", classical},
    {"Normalizer", classical},
    {"OneHotEncoder", classical},
    {"SVMClassifier", classical},
    {"SVMRegressor", classical},
    {"Scaler", classical},
    {"TreeEnsemble", classical},
    {"TreeEnsembleClassifier", classical},
    {"TreeEnsembleRegressor", classical},
    {"ZipMap", classical},
};

static constexpr llvm::StringLiteral training = "training has no counterpart";

static constexpr RefusedOp trainingOps[] = {
    {"Adagrad", training},
    {"Adam", training},
    {"Gradient", training},
    {"Momentum", training},
};

static constexpr llvm::StringLiteral layout =
    "onnxruntime has optimized the model for one processor; save it with a "
    "lower `graph_optimization_level`";

/// Of the two domains of its layouts.
static constexpr RefusedOp layoutOps[] = {
    {"AveragePool", layout},
    {"BatchNormalization", layout},
    {"Conv", layout},
    {"ConvTranspose", layout},
    {"DepthToSpace", layout},
    {"GlobalAveragePool", layout},
    {"GlobalLpPool", layout},
    {"GlobalMaxPool", layout},
    {"GridSample", layout},
    {"InstanceNormalization", layout},
    {"LRN", layout},
    {"LpPool", layout},
    {"MaxPool", layout},
    {"MaxUnpool", layout},
    {"QLinearAveragePool", layout},
    {"QLinearConv", layout},
    {"QLinearConvTranspose", layout},
    {"ReorderInput", layout},
    {"ReorderOutput", layout},
    {"Resize", layout},
    {"SpaceToDepth", layout},
    {"Upsample", layout},
};

llvm::ArrayRef<RefusedOp> onnx::refusedOps(llvm::StringRef domain) {
  if (domain.empty())
    return onnxOps;
  if (domain == microsoft)
    return microsoftOps;
  if (domain == "ai.onnx.ml")
    return classicalOps;
  if (domain == "ai.onnx.training" || domain == "ai.onnx.preview.training")
    return trainingOps;
  if (domain == "com.microsoft.nchwc" || domain == "com.ms.internal.nhwc")
    return layoutOps;
  return {};
}
