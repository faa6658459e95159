//===- Convert.h - weights in another format --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_CONVERT_H
#define ANEC_LIB_IMPORT_CONVERT_H

#include "anec/Formats/Source.h"
#include "lib/Arrays/ModelFolder.h"
#include "lib/Import/LlamaWeights.h"

namespace anec {

/// Weights, and what becomes of them.
struct ConvertRequest {
  std::string input;  ///< a file, a folder, a checkpoint or a run
  std::string output; ///< a file or, for Hugging Face's layout, a folder
  /// The formats; unset: what the input is, and what `output` suggests.
  std::optional<WeightFormat> from, to;
  /// The .tdsl program or the package of the weights, which gives the number of
  /// heads; empty for none.
  std::string config;
  std::string model; ///< of `config`, if it has several
  ReadOptions read;  ///< of `config`: its overrides
  /// The map that importModel wrote: the output has the names, and the
  /// config.json, that were imported. Without the options above.
  std::string mapping;
  /// With `mapping`, the GGUF file that was imported, whose metadata the
  /// output, a GGUF file, gets; empty for none.
  std::string like;
  ModelFolderOptions folder;

  /// Whether the output is a folder.
  bool writesFolder() const;
};

/// Writes the output. Returns false, with the reason reported and nothing
/// written, on failure.
[[nodiscard]] bool convertWeights(const ConvertRequest &request,
                                  Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_CONVERT_H
