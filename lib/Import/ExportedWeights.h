//===- ExportedWeights.h - weights under their own names --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An imported program uses arrays as they were stored, so that its weights go
/// back under their names, without a change of layout.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_EXPORTEDWEIGHTS_H
#define ANEC_LIB_IMPORT_EXPORTEDWEIGHTS_H

#include "ConfigText.h"
#include "ImportedWeights.h"
#include "lib/Arrays/Safetensors.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// The map that importModel wrote.
struct NamesFile {
  std::string path;
  llvm::json::Object names; ///< with the members of the map besides names
  ConfigText config;        ///< its member of that name
  /// Keys that were ignored when the model was imported.
  std::vector<std::string> ignoredKeys;

  [[nodiscard]] static std::optional<NamesFile> read(llvm::StringRef path,
                                                     Diagnostics &diags);
  void reportBad(const llvm::Twine &reason, Diagnostics &diags) const;
};

/// The weights of `decoder`, with the names that the map gives their arrays.
/// Returns nothing, with the reason reported, when one has no name.
[[nodiscard]] std::optional<std::vector<ImportedWeight>>
weightsIn(const NamesFile &names, const Decoder &decoder, Diagnostics &diags);

/// The arrays of a trained model, to be written under the names of `weights`.
/// Returns nothing, with the reason reported, when an array is missing, has
/// another shape than `description` says, belongs to no weight, or when the
/// file says facts that are not those of `decoder`.
[[nodiscard]] std::optional<std::vector<PlannedArray>>
planArrays(const Decoder &decoder, llvm::ArrayRef<ImportedWeight> weights,
           llvm::StringRef description, const NamesFile &names,
           const ArraySource &arrays, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_EXPORTEDWEIGHTS_H
