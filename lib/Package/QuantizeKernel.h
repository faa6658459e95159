//===- QuantizeKernel.h - quantizes kernels for a target --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_QUANTIZEKERNEL_H
#define ANEC_LIB_PACKAGE_QUANTIZEKERNEL_H

#include "anec/Passes/PassManager.h"
#include "anec/Quantize/QuantizeWeights.h"

namespace anec {

struct KernelQuantization {
  Quantization form;
  std::string opset;                ///< that the program will declare
  const PassManagerOptions &passes; ///< with the target
  QuantizationReport *report = nullptr;
  std::shared_ptr<const InputMoments> moments = nullptr; ///< QuantizeOptions
  ExactForm exactForm = nullptr;                         ///< the same
};

/// The opset that `function` has in a program of MIL version `milVersion`;
/// empty for 1.3.
std::string opsetOf(const Function &function, llvm::StringRef milVersion);

/// Quantizes the kernels of `module`, which are lowered, with ops that the
/// opset and the target have: int8 without groups falls back to
/// constexpr_affine_dequantize; another form that the opset lacks is an error.
/// For a chosen target, reports the rules about the ops that it breaks. As
/// QuantizedWeights::rewrite. Returns null, with the reason reported, on
/// failure.
[[nodiscard]] std::unique_ptr<QuantizedWeights>
quantizeKernel(Module &module, const KernelQuantization &request,
               Executor &executor, WeightValue value, Diagnostics &diags);

/// Whether each pattern of `form` has kept the type of a weight; reports those
/// that are not in `used`.
[[nodiscard]] bool checkSkips(const Quantization &form,
                              const std::set<std::string> &used,
                              Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_QUANTIZEKERNEL_H
