//===- LlamaWeights.h - the weights of a Llama in any form ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The weights of a Llama in several forms: anec's names (`attention.3.wq`) and
/// Hugging Face's (`model.layers.3.self_attn.q_proj.weight`) in safetensors,
/// llama2.c's file, which has an order instead of names, and GGUF files, which
/// are read alone. Arrays are views of mapped files, or computed when they are
/// written, one at a time.
///
/// Rotary embedding rotates pairs of channels. The channels of a pair are
/// adjacent (`interleaved`, anec's default for `rope`, and the layout of
/// llama2.c and GGUF) or in opposite halves of a head (`half_split`, Hugging
/// Face's layout); conversion permutes the rows of wq and wk.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_LLAMAWEIGHTS_H
#define ANEC_LIB_IMPORT_LLAMAWEIGHTS_H

#include "Decoder.h"
#include "anec/Arrays/StoredArray.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Support/Words.h"
#include "lib/Arrays/ModelFolder.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace anec {

ANEC_ENUM(WeightFormat, (Anec, "anec"), (HuggingFace, "hf"),
          (Llama2c, "llama2c"), (Gguf, "gguf"))

/// The format of `path`, judged by its ending, its first bytes, or the names in
/// it.
WeightFormat guessWeightFormat(llvm::StringRef path);
/// The format that weights written to `path` have, by its ending: llama2.c's
/// for .bin, anec's for .safetensors, Hugging Face's for a folder.
WeightFormat formatToWrite(llvm::StringRef path);

/// What is said of a model beside its weights.
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
  /// Its sizes, its name and the layout of its rotary pairs. The numbers of
  /// heads and positions, and the width of a head, are 0 when unknown.
  Decoder decoder;
  int64_t queryRows = 0, keyRows = 0;
  /// But for `rope_style`.
  ModelFacts facts;
  WeightFormat format = WeightFormat::Anec; ///< that they were read in
  std::vector<StoredArray> arrays;          ///< in the order of llama2.c's file
};

/// Calls `visit` for every array of a Llama, in the order of llama2.c's file.
void forEachLlamaArray(
    const Decoder &decoder,
    llvm::function_ref<void(const DecoderWeight &, int64_t layer)> visit);
/// The weight of a role in a Llama called `model`, without its shape.
DecoderWeight llamaWeight(llvm::StringRef model, WeightRole role);
/// What `format` calls the array of a weight.
std::string arrayName(WeightFormat format, const DecoderWeight &weight,
                      int64_t layer);
/// The layout of rotary pairs that `facts` name; nothing when they name none,
/// or several.
std::optional<RopeStyle> ropeStyleOf(const ModelFacts &facts);

/// Reads the weights at `path`: a file, or a Hugging Face folder with its
/// config.json and shards. Returns nothing, with the reason reported, when an
/// array is missing, has the wrong shape, or has no counterpart in a Llama, or
/// when the weights are of another model than `hints`.
[[nodiscard]] std::optional<LlamaWeights>
readLlamaWeights(llvm::StringRef path, WeightFormat format,
                 const LlamaHints &hints, Diagnostics &diags);

/// Writes `weights` to `path` in any format but GGUF, whole or not at all. A
/// path without an ending is a Hugging Face folder, which `folder` is for.
/// Returns false, with the reason reported, on failure.
[[nodiscard]] bool writeLlamaWeights(const LlamaWeights &weights,
                                     llvm::StringRef path, WeightFormat format,
                                     const LlamaHints &hints,
                                     const ModelFolderOptions &folder,
                                     Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_LLAMAWEIGHTS_H
