//===- ImportedModel.h - a model that was read ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What each of the readers of models returns: of folders in Hugging Face's
/// layout, of GGUF files, and of llama2.c's checkpoints.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_IMPORTEDMODEL_H
#define ANEC_LIB_IMPORT_IMPORTEDMODEL_H

#include "ConfigText.h"
#include "GgufTokenizer.h"
#include "ImportedWeights.h"
#include "lib/Import/Import.h"

namespace anec {

struct ImportedModel {
  Decoder decoder;
  std::vector<ImportedWeight> weights;
  /// config.json as it is in a folder; empty for the others.
  ConfigText config;
  /// If it was asked for; of `file`.
  std::optional<GgufTokenizer> tokenizer;
  MappedFile file;
};

/// Whether the model has the positions that are asked for; reported if not.
/// `path` is for messages.
[[nodiscard]] bool fitsPositions(const Decoder &decoder,
                                 const ImportOptions &options,
                                 llvm::StringRef path, Diagnostics &diags);

// Each returns nothing, with the reason reported, when the model has parts that
// anec does not know, or when an array is missing, has another shape, or
// belongs to no weight.
[[nodiscard]] std::optional<ImportedModel>
readFolderModel(llvm::StringRef folder, const ImportOptions &options,
                Diagnostics &diags);
[[nodiscard]] std::optional<ImportedModel>
readGgufModel(const MappedFile &file, llvm::StringRef path,
              const ImportOptions &options, Diagnostics &diags);
[[nodiscard]] std::optional<ImportedModel>
readLlama2cModel(const MappedFile &file, llvm::StringRef path,
                 Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_IMPORTEDMODEL_H
