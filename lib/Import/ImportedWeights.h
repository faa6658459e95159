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

/// The weights of `decoder`, with the names that the family gives their arrays.
/// Files of the decoder alone leave out the prefix, which `arrays` shows.
std::vector<ImportedWeight> matchWeights(const Family &family,
                                         const Decoder &decoder,
                                         const ArraySource &arrays);

/// Whether `arrays` has an array of the right shape for each weight, and none
/// besides. The elements are not read.
[[nodiscard]] bool checkWeights(llvm::ArrayRef<ImportedWeight> weights,
                                const Family &family, const ArraySource &arrays,
                                Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_IMPORTEDWEIGHTS_H
