//===- InputMoments.h - second moments of the inputs of products *- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What calibration knows of the inputs of a product: the sums of x x^T over
/// the vectors x that its weight multiplies. The change of the product's
/// outputs follows from it: of a row w of the weight and a row q that replaces
/// it, the sum of squares of (w - q) x is (w - q) H (w - q)^T.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_QUANTIZE_INPUTMOMENTS_H
#define ANEC_QUANTIZE_INPUTMOMENTS_H

#include "anec/Quantize/QuantizeArray.h"
#include <map>
#include <memory>
#include <string>

namespace anec {

class Op;

/// The second moments of one input of products.
struct SecondMoments {
  uint64_t samples = 0;     ///< vectors
  std::vector<double> sums; ///< [inputs, inputs], symmetric
};

/// The elements of a weight as a matrix, row-major [outputs, inputs]; nothing
/// when it has other axes, as a filter of several places does.
struct WeightMatrix {
  int64_t outputs = 0, inputs = 0;
  std::vector<float> elements;

  static std::optional<WeightMatrix> of(const Constant &weight,
                                        ProductAxes axes);
  /// The position in the weight of an element of the matrix.
  int64_t position(int64_t output, int64_t input) const {
    return output * outputStride + input * inputStride;
  }
  int64_t outputStride = 0, inputStride = 0;
};

/// Those of all weights that were seen. A weight is known by its elements, so
/// that the layout, the name and the program that reads it do not matter;
/// moments of equal weights are summed.
class InputMoments {
public:
  /// Adds moments, which can be shared by weights and grow later.
  void add(const WeightMatrix &weight,
           std::shared_ptr<const SecondMoments> moments);
  /// The moments of the inputs of `weight`; nothing when it was not seen with
  /// any input.
  std::optional<SecondMoments> find(const WeightMatrix &weight) const;

private:
  std::map<std::string, std::vector<std::shared_ptr<const SecondMoments>>>
      moments; ///< by the digest of the weight
};

/// Rounds the weight of `array` anew, which quantizeArray made of it, so that
/// the outputs of the product change less: the scales and palettes stay, and
/// each element takes up the errors of those before it in its row
/// (docs/quantization.md). A row that does not gain stays as it is. Sets
/// `array.outputs`. Returns false and changes nothing when the moments are not
/// finite.
[[nodiscard]] bool roundForOutputs(QuantizedArray &array,
                                   const WeightMatrix &weight,
                                   const Constant &value, ProductAxes axes,
                                   const Quantization &quantization,
                                   const SecondMoments &moments,
                                   Executor &executor);

} // namespace anec

#endif // ANEC_QUANTIZE_INPUTMOMENTS_H
