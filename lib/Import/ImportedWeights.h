//===- ImportedWeights.h - which array is which weight ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_IMPORTEDWEIGHTS_H
#define ANEC_LIB_IMPORT_IMPORTEDWEIGHTS_H

#include "Families.h"
#include "anec/Arrays/ArraySource.h"

namespace anec {

/// A weight of the program, or one of its instances.
struct ImportedWeight {
  std::string name;  ///< `attention.3.wq`
  std::string array; ///< `model.layers.3.self_attn.q_proj.weight`
  Shape shape;
};

/// The name of the array of `role`. The classifier lies beside the decoder, and
/// is without `prefix`.
std::string arrayName(const ArrayNames &names, WeightRole role, int64_t layer,
                      llvm::StringRef prefix);

/// The weights of `decoder`, with arrays that are called as they are.
std::vector<ImportedWeight> weightInstances(const Decoder &decoder);
/// The same, with the names that `names` gives their arrays;
/// `prefix` is before all but the classifier's.
std::vector<ImportedWeight> matchWeights(const ArrayNames &names,
                                         const Decoder &decoder,
                                         llvm::StringRef prefix);
/// Whether the names in `arrays` are without a prefix: those of files that have
/// the decoder alone.
bool isDecoderAlone(const ArrayNames &names, const ArraySource &arrays);

/// Whether `arrays` has an array of the right shape for each weight, and none
/// besides them and `others`. The elements are not read. `description` is what
/// has the shapes, for messages.
[[nodiscard]] bool checkWeights(llvm::ArrayRef<ImportedWeight> weights,
                                llvm::StringRef description,
                                llvm::ArrayRef<std::string> others,
                                const ArraySource &arrays, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_IMPORTEDWEIGHTS_H
