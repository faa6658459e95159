//===- LlamaConfig.h - what is said of a Llama ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// config.json beside weights that are converted: other than one that is
/// imported it may lack keys, and have those of other programs, since a program
/// of anec says what is computed.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_LLAMACONFIG_H
#define ANEC_LIB_IMPORT_LLAMACONFIG_H

#include "LlamaWeights.h"

namespace anec {

/// What a file says of the model of its weights.
struct LlamaConfig {
  std::map<std::string, int64_t> sizes; ///< those of LlamaHints
  ModelFacts facts;
  std::optional<bool> tied; ///< where it is said

  /// Adds what Hugging Face's config.json at `path` says.
  [[nodiscard]] bool addFile(llvm::StringRef path, Diagnostics &diags);
  /// Adds what is not known yet from the metadata of .safetensors files.
  void complete(const SafetensorsMetadata &metadata);
};

/// The facts that config.json has.
llvm::ArrayRef<llvm::StringLiteral> factsInConfig();
/// Writes Hugging Face's config.json. All sizes and facts are known.
void writeLlamaConfig(const LlamaWeights &weights, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_IMPORT_LLAMACONFIG_H
