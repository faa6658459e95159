//===- KernelLowering.h - lower a kernel of a package to MIL ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_KERNELLOWERING_H
#define ANEC_LIB_PACKAGE_KERNELLOWERING_H

#include "anec/Package/ModelPackage.h"

namespace anec {

struct LoweredKernel {
  std::unique_ptr<Module> module; ///< one function, in MIL ops
  /// Complete except for its files.
  PackagedKernel description;
  /// The values of the parts of quantized weights; null without any.
  std::unique_ptr<QuantizedWeights> quantized;
};

/// Takes `kernel` out of its program, leaving a declaration there, and lowers
/// it to MIL with the interface that `options` requests. Weights are quantized
/// with the workers of `executor`, in exact forms as `exactForm` says. Returns
/// nothing, with an error reported, on failure.
[[nodiscard]] std::optional<LoweredKernel>
lowerKernel(std::unique_ptr<Function> &kernel, const PackageOptions &options,
            Executor &executor, ExactForm exactForm, Diagnostics &diags,
            std::vector<PassReport> *reports);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_KERNELLOWERING_H
