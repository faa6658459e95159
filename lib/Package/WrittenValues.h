//===- WrittenValues.h - the values that a package gets ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_WRITTENVALUES_H
#define ANEC_LIB_PACKAGE_WRITTENVALUES_H

#include "UsedWeights.h"

namespace anec {

/// The values of the weights that a package is written with.
class WrittenValues {
public:
  WrittenValues(WeightBinding values, const UsedWeights &used,
                const PackageOptions &options)
      : opened(std::move(values)), used(used), options(options) {}

  const WeightBinding &binding() const { return opened; }
  Executor &executor() const { return opened.executor(); }

  /// The view of a weight in a kernel: of the kernel's own instance when the
  /// weight has one per instance.
  WeightView ownView(WeightView view) const;
  /// The elements that `view` has in a program of this instance. Null, with the
  /// reason reported at `range`, when there are none.
  [[nodiscard]] ConstantRef resolve(const WeightView &view,
                                    std::optional<int64_t> instance,
                                    SourceRange range,
                                    Diagnostics &diags) const;
  /// The forms that the arrays of a view have without loss. It refers to this.
  ExactForm exactForms();

private:
  std::optional<QuantizedForm> findExactForm(const WeightView &view,
                                             ProductAxes axes) const;

  WeightBinding opened;
  const UsedWeights &used;
  const PackageOptions &options;
  /// By view and axes, as far as they were asked for.
  std::map<std::string, std::optional<QuantizedForm>> exactFormOf;
};

/// The name of the array that `view` reads in a program of this instance.
std::string arrayOf(const WeightView &view, std::optional<int64_t> instance);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_WRITTENVALUES_H
