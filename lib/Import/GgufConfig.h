//===- GgufConfig.h - metadata of GGUF files as config.json -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What the metadata of a GGUF file says of its model, under the keys that
/// config.json would have. Keys and defaults are those of llama.cpp
/// (src/llama-arch.cpp, load_arch_hparams of each architecture).
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_GGUFCONFIG_H
#define ANEC_LIB_IMPORT_GGUFCONFIG_H

#include "Families.h"
#include "anec/Arrays/ArraySource.h"
#include "lib/Arrays/Gguf.h"

namespace anec {

/// An architecture that anec knows.
struct GgufArchitecture {
  llvm::StringLiteral name;   ///< `general.architecture`
  llvm::StringLiteral family; ///< `model_type`
  /// Interleaved where the converter has moved the rows of queries and keys.
  RopeStyle ropeStyle;
  llvm::StringLiteral epsilon; ///< the key of its norms' epsilon
};

/// A config.json, and the names that its keys have in the file.
struct GgufConfig {
  const GgufArchitecture *architecture = nullptr;
  llvm::json::Object object;
  ConfigNames names;
  /// Arrays that are a part of the configuration.
  std::vector<std::string> arrays;
};

/// What the files of all architectures call their arrays, where the first
/// matrix of feed-forward is a gate.
llvm::ArrayRef<ArrayName> ggufArrays();
/// Null when there is none.
const GgufArchitecture *findArchitecture(llvm::StringRef name);

/// Keys that are not known stay as they are, and are refused when the object is
/// read. Returns nothing, with the reason reported, when the file has no model,
/// or one of an architecture that anec does not know.
[[nodiscard]] std::optional<GgufConfig>
configOfGguf(const GgufFile &file, const ArraySource &arrays,
             llvm::ArrayRef<std::string> ignoredKeys, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_GGUFCONFIG_H
