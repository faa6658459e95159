//===- ModelFolder.h - folders in Hugging Face's layout ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Writes the files of a folder that transformers loads, besides config.json:
/// the arrays in one file, or in several with an index, and copies of the files
/// for text.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_MODELFOLDER_H
#define ANEC_LIB_ARRAYS_MODELFOLDER_H

#include "lib/Arrays/Safetensors.h"
#include "llvm/Support/JSON.h"

namespace anec {

class AtomicFiles;

/// What a folder gets besides its weights and config.json.
struct ModelFolderOptions {
  /// The folder whose tokenizer, chat templates and generation_config.json are
  /// copied; empty for none.
  std::string tokenizer;
  /// The bytes that the arrays of one file have at most, unless a single array
  /// has more.
  uint64_t shardSize = 5'000'000'000;
};

/// Adds `model.safetensors` in `folder` to `files`, or where the arrays have
/// more than `shardSize` bytes `model-00001-of-00002.safetensors` and so on
/// with `model.safetensors.index.json`. Returns false, with the reason
/// reported, on failure.
[[nodiscard]] bool addModelArrays(AtomicFiles &files, llvm::StringRef folder,
                                  llvm::ArrayRef<PlannedArray> arrays,
                                  const SafetensorsMetadata &metadata,
                                  uint64_t shardSize, Diagnostics &diags);

/// Whether `folder` has a file of a tokenizer, a chat template or
/// generation_config.json.
bool hasTextFiles(llvm::StringRef folder);

/// Adds copies of the files for text in `options.tokenizer` to `files`: those
/// of the tokenizer, chat templates, and generation_config.json. Where there is
/// none of the last, it has the tokens of `config`, a config.json, as
/// transformers derives it, if `config` says which one ends a text. Returns
/// false, with the reason reported, on failure, and if a folder is given that
/// has no such files.
[[nodiscard]] bool addTextFiles(AtomicFiles &files, llvm::StringRef folder,
                                const ModelFolderOptions &options,
                                const llvm::json::Object &config,
                                Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_ARRAYS_MODELFOLDER_H
