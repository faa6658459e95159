//===- QuantizationReport.h - what quantization changed ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_QUANTIZE_QUANTIZATIONREPORT_H
#define ANEC_QUANTIZE_QUANTIZATIONREPORT_H

#include "anec/IR/Type.h"
#include <optional>
#include <string>
#include <vector>

namespace anec {

/// An activation that is rounded to int8 for a product, over the calibration
/// inputs.
struct QuantizedInput {
  int64_t scales = 1; ///< 1, or one for each channel
  double leastScale = 0, mostScale = 0;
  double largest = 0; ///< magnitude
  /// The share of elements that are clipped, and the norm of what changed
  /// relative to that of the activation.
  std::optional<double> clipped, relativeError;
  /// The norm of what the rounding of the activation and of the weight changes
  /// of the product's outputs, relative to theirs.
  std::optional<double> outputError;
};

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
  /// Of int8 activations; nothing when the product reads floats.
  std::optional<QuantizedInput> input;

  double bitsPerWeight() const {
    return double(bytesAfter) * 8 / double(type.numElements());
  }
};

struct QuantizationReport {
  std::vector<QuantizedWeightRow> weights; ///< in the order of the weight files
  bool hasActivations = false; ///< whether int8 activations were asked for
  /// The weights that keep their type because they were named.
  std::vector<std::string> skipped;
};

} // namespace anec

#endif // ANEC_QUANTIZE_QUANTIZATIONREPORT_H
