//===- LlamaWeights.h - weights under the names of others ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The weights of a Llama in three forms: anec's names (`attention.3.wq`) and
/// Hugging Face's (`model.layers.3.self_attn.q_proj.weight`) in safetensors,
/// and llama2.c's file, which has an order instead of names. Arrays are views
/// of mapped files, or computed when they are written, one at a time.
///
/// Rotary embedding rotates pairs of channels. The channels of a pair are
/// adjacent (`interleaved`, anec's default for `rope` and llama2.c's layout) or
/// in opposite halves of a head (`half_split`, Hugging Face's layout);
/// conversion permutes the rows of wq and wk.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_LLAMAWEIGHTS_H
#define ANEC_LIB_TRAIN_LLAMAWEIGHTS_H

#include "anec/Arrays/StoredArray.h"
#include "anec/Package/ModelFacts.h"
#include "anec/Support/Diagnostics.h"
#include "lib/Arrays/ModelFolder.h"
#include "lib/Ops/Params/Rope.h"
#include <map>

namespace anec {

struct ReadOptions;

ANEC_ENUM(WeightFormat, (Anec, "anec"), (HuggingFace, "hf"),
          (Llama2c, "llama2c"))

/// The style that `facts` name; nothing when they name none, or several.
std::optional<RopeStyle> ropeStyleOf(const ModelFacts &facts);

/// The purpose of an array, in the order of llama2.c's file.
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
/// Whether every layer has an array of this role.
bool isOfLayer(LlamaRole role);

/// Facts about a model that its weights do not contain.
struct LlamaHints {
  /// Sizes by the names of examples/llama.tdsl: `layers`, `dim`, `hidden`,
  /// `heads`, `kv_heads`, `seq`, `vocab`.
  std::map<std::string, int64_t> sizes;
  std::string model = "llama"; ///< the first part of anec's names
  /// `rope_style` is of anec's weights.
  ModelFacts facts;
  /// The model or package that the hints come from; empty for none.
  std::string source;
  /// Whether it has a separate classifier weight; empty when unknown.
  std::optional<bool> hasClassifier;
};

/// The weights of one model.
struct LlamaWeights {
  int64_t layers = 0, dim = 0, hidden = 0, vocab = 0;
  int64_t queryRows = 0, keyRows = 0;
  /// 0 when unknown.
  int64_t heads = 0, keyHeads = 0, positions = 0;
  bool tied = false;                        ///< the embedding is the classifier
  WeightFormat format = WeightFormat::Anec; ///< that they were read in
  RopeStyle rope = RopeStyle::Interleaved;
  /// But for the rotary embedding's style, which is `rope`.
  ModelFacts facts;
  /// By role, then by layer where each layer has one.
  std::vector<StoredArray> arrays[llamaRoles];

  Shape shapeOf(LlamaRole role) const;
  const StoredArray &array(LlamaRole role, int64_t layer) const {
    return arrays[unsigned(role)][isOfLayer(role) ? layer : 0];
  }
};

/// The name of an array in safetensors, in anec's or Hugging Face's naming.
std::string llamaName(WeightFormat format, LlamaRole role, int64_t layer,
                      llvm::StringRef model);

/// The format of `path`, judged by its ending or by the names in it.
WeightFormat guessWeightFormat(llvm::StringRef path);
/// The format that weights written to `path` have, by its ending: llama2.c's
/// for .bin, anec's for .safetensors, Hugging Face's for a folder.
WeightFormat formatToWrite(llvm::StringRef path);

/// Reads the model that weights are for: its sizes, its name, its facts, and
/// whether it has a classifier. `path` is a program,
/// which `options` are for, or a package; `model` names one of several models
/// in it. Nothing, with the reason reported, when it cannot be read, or has
/// several models and none is named.
[[nodiscard]] std::optional<LlamaHints>
readLlamaHints(llvm::StringRef path, const ReadOptions &options,
               llvm::StringRef model, Diagnostics &diags);

struct TrainState;
/// The sizes in the configuration of a model that was trained, without its
/// name.
LlamaHints hintsOf(const TrainState &state);

/// Reads the weights at `path`: a file, or a Hugging Face folder with its
/// config.json and shards. Returns nothing, with the reason reported, when an
/// array is missing, has the wrong shape, or has no counterpart in a Llama, or
/// when the weights are of another model than `hints`.
[[nodiscard]] std::optional<LlamaWeights>
readLlamaWeights(llvm::StringRef path, WeightFormat format,
                 const LlamaHints &hints, Diagnostics &diags);

/// Writes `weights` to `path`, whole or not at all. A path without an ending is
/// a Hugging Face folder, which `folder` is for. Returns false, with the reason
/// reported, on failure.
[[nodiscard]] bool writeLlamaWeights(const LlamaWeights &weights,
                                     llvm::StringRef path, WeightFormat format,
                                     const LlamaHints &hints,
                                     const ModelFolderOptions &folder,
                                     Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TRAIN_LLAMAWEIGHTS_H
