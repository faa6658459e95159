//===- TappedProgram.h - programs with further results ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Calibration computes sums over values inside programs: as further results,
/// which each run hands to functions, and callers do not see.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_TAPPEDPROGRAM_H
#define ANEC_LIB_RUNTIME_TAPPEDPROGRAM_H

#include "anec/Quantize/QuantizeWeights.h"
#include "anec/Runtime/Backend.h"
#include <functional>

namespace anec {

/// A further result: fp32[1, channels, 1, columns], and what takes its elements
/// after each run.
struct Tap {
  Value *value = nullptr;
  std::function<void(llvm::ArrayRef<float>)> take;
};

/// Loads `function` with the values of `taps` as further results.
[[nodiscard]] std::unique_ptr<Executable>
loadTapped(Backend &backend, Function &function, std::vector<Tap> taps,
           const LoadOptions &options, Diagnostics &diags);

/// Programs with taps are loaded one at a time, from IR.
BackendCapabilities capabilitiesWithTaps(const Backend &backend);

/// A constant weight of a product.
struct WeightUse {
  Op *op = nullptr;
  unsigned slot = 0;
  ProductAxes axes;
  const Constant *value() const;
};
/// Those of all products, in order.
std::vector<WeightUse> constantWeights(Function &function);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_TAPPEDPROGRAM_H
