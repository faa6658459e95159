//===- QuantizedErrorsBackend.h - what int8 activations change --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A backend in front of another one, for reports about quantization: the
/// programs that it loads also compute each product with int8 activations and
/// quantized weights, and sum what that changes. What they return, and what
/// later products read, is not quantized.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_QUANTIZEDERRORSBACKEND_H
#define ANEC_LIB_RUNTIME_QUANTIZEDERRORSBACKEND_H

#include "anec/Quantize/InputMoments.h"
#include "anec/Runtime/Backend.h"

namespace anec {

class Executor;

class QuantizedErrorsBackend : public Backend {
public:
  /// Adds the errors to `moments`, which has the ranges for `quantization`.
  /// `backend` and `executor` must outlive this and all executables.
  QuantizedErrorsBackend(Backend &backend,
                         std::shared_ptr<InputMoments> moments,
                         Quantization quantization, Executor &executor);

  [[nodiscard]] std::unique_ptr<Executable> load(const Function &function,
                                                 const LoadOptions &options,
                                                 Diagnostics &diags) override;

private:
  Backend &backend;
  std::shared_ptr<InputMoments> moments;
  Quantization quantization;
  Executor &executor;
};

} // namespace anec

#endif // ANEC_LIB_RUNTIME_QUANTIZEDERRORSBACKEND_H
