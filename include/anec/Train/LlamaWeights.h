//===- LlamaWeights.h - weights under the names of others ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The weights of a Llama in three forms: anec's names (`attention.3.wq`) and
/// Hugging Face's (`model.layers.3.self_attn.q_proj.weight`) in safetensors,
/// and llama2.c's file, which has an order instead of names. Arrays are views
/// of mapped files, and written one at a time.
///
/// Rotary embedding turns pairs of channels. Those of a pair stand side by side
/// (`interleaved`, as in anec's `rope` by default and in llama2.c) or in the
/// two halves of a head (`half_split`, as in Hugging Face's): rows of wq and wk
/// move between the two.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_LLAMAWEIGHTS_H
#define ANEC_TRAIN_LLAMAWEIGHTS_H

#include "anec/IR/Constant.h"
#include "anec/Support/Diagnostics.h"
#include <map>

namespace anec {

enum class WeightFormat : uint8_t { Anec, HuggingFace, Llama2c };
/// `anec`, `hf`, `llama2c`.
llvm::StringRef spelling(WeightFormat format);

enum class RopeStyle : uint8_t { Interleaved, HalfSplit };

/// What an array is for, in the order of llama2.c's file.
enum class LlamaRole : uint8_t {
  Embedding,
  AttentionNorm,
  Wq,
  Wk,
  Wv,
  Wo,
  FeedForwardNorm,
  W1,
  W2,
  W3,
  Norm,
  Classifier,
};
constexpr unsigned llamaRoles = unsigned(LlamaRole::Classifier) + 1;
/// Whether each layer has one.
bool isOfLayer(LlamaRole role);

/// What is known of a model besides its weights.
struct LlamaHints {
  /// Sizes by the names of examples/llama.tdsl: `layers`, `dim`, `hidden`,
  /// `heads`, `kv_heads`, `seq`, `vocab`.
  std::map<std::string, int64_t> sizes;
  std::string model = "llama"; ///< the block that anec's names begin with
  RopeStyle rope = RopeStyle::Interleaved; ///< of anec's weights
  /// The model or package that says so; empty for none.
  std::string source;
  /// It has a weight for the classifier; nothing when it is not known.
  std::optional<bool> hasClassifier;
};

/// The weights of one model.
struct LlamaWeights {
  int64_t layers = 0, dim = 0, hidden = 0, vocab = 0;
  int64_t queryRows = 0, keyRows = 0;
  /// 0 when they are not known.
  int64_t heads = 0, keyHeads = 0, positions = 0;
  bool tied = false; ///< the embedding is the classifier
  RopeStyle rope = RopeStyle::Interleaved;
  /// By role; for each layer, or one.
  std::vector<ConstantRef> arrays[llamaRoles];

  Shape shapeOf(LlamaRole role) const;
  const ConstantRef &array(LlamaRole role, int64_t layer) const {
    return arrays[unsigned(role)][isOfLayer(role) ? layer : 0];
  }
};

/// The name of an array in safetensors, by Anec's or HuggingFace's names.
std::string llamaName(WeightFormat format, LlamaRole role, int64_t layer,
                      llvm::StringRef model);

/// What `path` is: by its ending, or by the names in it.
WeightFormat guessWeightFormat(llvm::StringRef path);

/// Reads the weights at `path`: a file, or a Hugging Face folder with its
/// config.json and shards. Nothing, with the reason reported, when an array is
/// missing, of another shape, or has no place.
std::optional<LlamaWeights> readLlamaWeights(llvm::StringRef path,
                                             WeightFormat format,
                                             const LlamaHints &hints,
                                             Diagnostics &diags);

/// Writes `weights` to `path`, whole or not at all. A path without an ending is
/// a Hugging Face folder. False, with the reason reported, when that fails.
bool writeLlamaWeights(const LlamaWeights &weights, llvm::StringRef path,
                       WeightFormat format, const LlamaHints &hints,
                       Diagnostics &diags);

} // namespace anec

#endif // ANEC_TRAIN_LLAMAWEIGHTS_H
