//===- MomentsBackend.h - collects moments of products' inputs --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A backend in front of another one, for calibration: the programs that it
/// loads also compute the second moments of the inputs of their products, which
/// are summed over all runs. A session on it runs as on the other one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_MOMENTSBACKEND_H
#define ANEC_LIB_RUNTIME_MOMENTSBACKEND_H

#include "anec/Quantize/InputMoments.h"
#include "anec/Runtime/Backend.h"

namespace anec {

class MomentsBackend : public Backend {
public:
  /// `backend` must outlive this and all executables. With `takesRanges`, the
  /// largest magnitudes of the inputs of all products with a constant weight
  /// are collected too.
  MomentsBackend(Backend &backend, bool takesRanges);

  /// The sums over all runs so far of all programs that were loaded. Only
  /// products with a constant weight count that is a matrix: `linear`,
  /// `matmul`, and `conv` with a filter of one place and one group.
  const std::shared_ptr<InputMoments> &moments() const { return seen; }

  [[nodiscard]] std::unique_ptr<Executable> load(const Function &function,
                                                 const LoadOptions &options,
                                                 Diagnostics &diags) override;

private:
  Backend &backend;
  bool takesRanges;
  std::shared_ptr<InputMoments> seen = std::make_shared<InputMoments>();
};

} // namespace anec

#endif // ANEC_LIB_RUNTIME_MOMENTSBACKEND_H
