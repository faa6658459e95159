//===- UsedWeights.h - the weights of a program -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_USEDWEIGHTS_H
#define ANEC_LIB_PACKAGE_USEDWEIGHTS_H

#include "anec/Package/ModelPackage.h"
#include <map>
#include <set>

namespace anec {

/// What the entry points of a program use: kernels, and weights of instances.
class UsedWeights {
public:
  using Instances = std::set<std::optional<int64_t>>;

  /// Finds the instances. Returns false, with the reason reported, when one is
  /// not known before the program runs.
  [[nodiscard]] bool findInstances(const Module &program, Diagnostics &diags);
  /// Then, in a program of used functions alone, describes the weights. Those
  /// of `zeros` are zeros when they are drawn.
  void describe(const Module &program, llvm::ArrayRef<std::string> zeros,
                const WeightBinding &values);
  /// Whether all arrays have names of their own. Otherwise reports those that
  /// do not, at `range`.
  [[nodiscard]] bool checkArrays(SourceRange range, Diagnostics &diags) const;
  std::vector<std::string> arrays() const;

  std::map<std::string, Instances> ofKernels;
  std::map<std::string, PackagedWeight> weights;
  /// Names of weights that the host passes on or computes with.
  std::set<std::string> ofHost;

private:
  void note(const Op &weight, const Instances &instances);
  void noteGradient(const Op &accumulate, std::optional<int64_t> instance);

  /// Weights as their gradients describe them: of those that nothing reads.
  std::map<std::string, PackagedWeight> trained;
  std::map<std::string, std::set<int64_t>> instances; ///< of both
};

} // namespace anec

#endif // ANEC_LIB_PACKAGE_USEDWEIGHTS_H
