//===- Import.h - language models of others as programs ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Writes the .tdsl program of a language model that others have trained, and
/// a map from the names of its weights to those of the arrays. The weights stay
/// where they are, as they are.
///
///   if (!anec::importModel("Qwen3-0.6B", "qwen3.tdsl", {}, diags))
///     diags.print(llvm::errs());
///
/// docs/use/import.md lists the families of models.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_IMPORT_H
#define ANEC_LIB_IMPORT_IMPORT_H

#include "anec/IR/DType.h"
#include "anec/Support/Diagnostics.h"
#include "lib/Arrays/ModelFolder.h"
#include <vector>

namespace anec {

struct ImportOptions {
  /// `seq` of the program: the positions it computes at a time, which
  /// `--define seq=` changes later. 0 is `mostPositions`, or all that the model
  /// has, if they are fewer.
  int64_t positions = 0;
  int64_t mostPositions = 256;
  /// The element type of the program, fp16 or fp32.
  DType floats = DType::FP16;
  /// Keys of config.json, or of the metadata of a GGUF file, that are not
  /// looked at.
  std::vector<std::string> ignoredKeys;
  /// The folder that gets the tokenizer of a GGUF file: tokenizer.json,
  /// tokenizer_config.json and generation_config.json. Empty for none.
  std::string tokenizer;
};

/// Imports `source`, a folder in Hugging Face's layout (config.json and
/// .safetensors files), a GGUF file, or a checkpoint of llama2.c (.bin), to the
/// program `program` (`.tdsl`), and writes the map
/// `namesFileOf(program)`. All files appear, or none does. Returns false, with
/// the reason reported, when the model has parts that anec does not know, or
/// when an array is missing, has another shape, or belongs to no weight.
[[nodiscard]] bool importModel(llvm::StringRef source, llvm::StringRef program,
                               const ImportOptions &options,
                               Diagnostics &diags);

/// Writes weights under the names, and with the config.json, that `names` has:
/// the map that importModel wrote. `weights` are under the program's names,
/// such as those of a checkpoint; elements keep their type. `folder` gets
/// config.json and what `options` say. Returns false, with the reason reported
/// and nothing written, when an array is missing, has another shape, or belongs
/// to no weight, or when the weights are of a model that config.json does not
/// describe.
[[nodiscard]] bool exportModel(llvm::StringRef weights, llvm::StringRef names,
                               const ModelFolderOptions &options,
                               llvm::StringRef folder, Diagnostics &diags);

/// The same for a model that was imported from the GGUF file `like`: writes the
/// file `path` with the metadata and the arrays of `like`, and the weights in
/// the place of those that it has. Matrices keep their element type, which is
/// fp32 in checkpoints; vectors are fp32, as llama.cpp expects them.
[[nodiscard]] bool exportGguf(llvm::StringRef weights, llvm::StringRef names,
                              llvm::StringRef like, llvm::StringRef path,
                              Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_IMPORT_H
