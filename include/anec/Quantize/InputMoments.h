//===- InputMoments.h - what is known of the inputs of products -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What calibration knows of the inputs of a product: the sums of x x^T over
/// the vectors x that its weight multiplies. The change of the product's
/// outputs follows from it: of a row w of the weight and a row q that replaces
/// it, the sum of squares of (w - q) x is (w - q) H (w - q)^T. And the largest
/// magnitudes of x, which the scales of int8 activations are made from.
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

/// The largest magnitudes of an input of products: of each channel, those
/// elements that one element of a weight's row multiplies.
struct InputRange {
  uint64_t runs = 0;
  std::vector<float> largest; ///< not finite where an element was not
  /// The largest of all; not finite when one is not.
  float whole() const;
};

/// What int8 activations change of a product, summed over runs.
struct ActivationErrors {
  double elements = 0, clipped = 0;
  double squares = 0, squaredErrors = 0;             ///< of the activation
  double outputSquares = 0, outputSquaredErrors = 0; ///< of the product
};

/// What a weight is known by: its elements, by outputs and inputs, and the
/// channels of the product's input.
std::string weightDigest(const Constant &weight, ProductAxes axes,
                         int64_t channels);

/// The scales of int8 activations in `range`, which is finite, for each channel
/// or one: margin * largest / 127, as fp16 that is neither subnormal nor
/// infinite. A channel has at least 1/128 of the largest scale, so that one
/// that calibration hardly saw is not clipped to zero. 1 for zeros.
std::vector<double> activationScales(const InputRange &range,
                                     const ActivationQuantization &form);

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

  /// Adds the range of an input of the weight with this digest; it can grow
  /// later.
  void addRange(const std::string &digest,
                std::shared_ptr<const InputRange> range);
  /// The range of the inputs of the weight with this digest, and of all weights
  /// that shared one of them, so that products of one input have one range.
  /// Nothing when it was not seen.
  std::optional<InputRange> findRange(const std::string &digest) const;

  /// Adds the errors of a product of the weight with this digest, which can
  /// grow later.
  void addErrors(const std::string &digest,
                 std::shared_ptr<const ActivationErrors> errors);
  /// Their sums; nothing when they were not measured.
  std::optional<ActivationErrors> findErrors(const std::string &digest) const;

private:
  std::map<std::string, std::vector<std::shared_ptr<const SecondMoments>>>
      moments; ///< by the digest of the weight
  std::map<std::string, std::vector<std::shared_ptr<const InputRange>>> ranges;
  std::map<const InputRange *, std::vector<std::string>> weightsOfRange;
  std::map<std::string, std::vector<std::shared_ptr<const ActivationErrors>>>
      errors;
};

/// Rounds the weight of `array` anew, which quantizeArray made of it, so that
/// the outputs of the product change less: the scales and palettes stay, and
/// each element takes up the errors of those before it in its row
/// (docs/use/quantization.md). A row that does not gain stays as it is. Sets
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
