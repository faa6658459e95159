//===- QuantizationReport.h - what quantization changed ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_QUANTIZE_QUANTIZATIONREPORT_H
#define ANEC_QUANTIZE_QUANTIZATIONREPORT_H

#include "anec/IR/Type.h"
#include <string>
#include <vector>

namespace anec {

/// A weight that was quantized.
struct QuantizedWeightRow {
  std::string name; ///< `attention.3.wq`, or the name of a constant
  std::string form; ///< `int8:per-channel`
  TensorType type;  ///< as the program reads it
  uint64_t bytesBefore = 0, bytesAfter = 0; ///< after: with scales or palettes
  /// The norm of what changed relative to that of the weight.
  double relativeError = 0;
  /// The same of the outputs of its product for the calibration inputs, and
  /// what it would be with elements rounded to nearest.
  std::optional<double> outputError, plainOutputError;

  double bitsPerWeight() const {
    return double(bytesAfter) * 8 / double(type.numElements());
  }
};

struct QuantizationReport {
  std::vector<QuantizedWeightRow> weights; ///< in the order of the weight files
};

} // namespace anec

#endif // ANEC_QUANTIZE_QUANTIZATIONREPORT_H
