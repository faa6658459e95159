//===- HostValues.h - the weights of the host's part ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_HOSTVALUES_H
#define ANEC_LIB_PACKAGE_HOSTVALUES_H

#include "WrittenValues.h"
#include "lib/Arrays/Safetensors.h"

namespace anec {

/// The weights that the host of a package passes on or computes with, and their
/// file.
class HostValues {
public:
  /// Refers to its arguments.
  HostValues(WrittenValues &values, UsedWeights &used,
             const PackageOptions &options, Diagnostics &diags)
      : values(values), used(used), options(options), diags(diags) {}

  /// Quantizes the weights of the host's own products: of a classifier that is
  /// the table of embeddings too. These are not calibrated, and their inputs
  /// are not rounded. Adds the parts to `package`. Returns false, with the
  /// reason reported, on failure.
  [[nodiscard]] bool quantize(Module &program, ModelPackage &package);
  /// QuantizedWeights::usedSkips.
  std::set<std::string> usedSkips() const;
  /// The arrays of the file; nothing, with the reason reported, when one has no
  /// value.
  [[nodiscard]] std::optional<std::vector<PlannedArray>>
  plan(const ModelPackage &package);

private:
  void planParts(std::vector<PlannedArray> &arrays) const;
  PlannedArray planPart(const std::string &name,
                        const QuantizedPart &part) const;

  WrittenValues &values;
  UsedWeights &used;
  const PackageOptions &options;
  Diagnostics &diags;
  std::unique_ptr<QuantizedWeights> quantized;        ///< null for none
  std::map<std::string, const QuantizedPart *> parts; ///< by weight op
};

} // namespace anec

#endif // ANEC_LIB_PACKAGE_HOSTVALUES_H
