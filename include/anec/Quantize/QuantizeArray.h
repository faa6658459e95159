//===- QuantizeArray.h - quantizes the elements of a weight -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_QUANTIZE_QUANTIZEARRAY_H
#define ANEC_QUANTIZE_QUANTIZEARRAY_H

#include "anec/IR/Constant.h"
#include "anec/Quantize/Quantization.h"
#include <optional>
#include <vector>

namespace anec {

class Executor;

/// The change of a product's outputs, relative to their norm over the
/// calibration inputs.
struct OutputErrors {
  double plain = 0;   ///< with elements rounded to nearest
  double rounded = 0; ///< as they are rounded
};

/// A weight as integers with scales, or as indices with palettes.
struct QuantizedArray {
  /// The integers or indices, in the shape of the weight, one a byte.
  std::vector<uint8_t> numbers;
  /// The scale or the palette of each block, rounded to the element type of
  /// the weight; of a palette, all entries in ascending order.
  std::vector<double> tables;
  /// The sums of squares of the weight's elements, and of their differences
  /// to what the ops that unpack the weight return.
  double squares = 0, squaredErrors = 0;
  /// With the moments of the product's inputs.
  std::optional<OutputErrors> outputs;

  /// The norm of the differences relative to that of the weight; 0 for a
  /// weight of zeros.
  double relativeError() const;
};

/// The elements of a weight for each block that has a scale or a palette of
/// its own.
class BlockedElements {
public:
  BlockedElements(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> blocks);
  int64_t count() const { return number; }
  /// Writes the row-major positions of the elements of block `index`.
  void positions(int64_t index, std::vector<int64_t> &out) const;

private:
  Shape extents, starts, strides, blockStrides;
  int64_t number = 1;
};

/// The number of elements of `weight`, fp16 or fp32, that are infinite or not
/// a number.
int64_t countNotFinite(const Constant &weight);

/// The form of integers, int4 or int8, that gives the very elements of `weight`
/// with the groups of `quantization`; nothing when none does.
std::optional<QuantizedForm> exactForm(const Constant &weight, ProductAxes axes,
                                       const Quantization &quantization,
                                       Executor &executor);

/// Quantizes `weight`, whose elements are finite, and whose extents are
/// multiples of its blocks'. The result does not depend on the number of
/// workers.
QuantizedArray quantizeArray(const Constant &weight, ProductAxes axes,
                             const Quantization &quantization,
                             Executor &executor);

/// The scale of elements with the largest magnitude `largest`, of type `dtype`:
/// `largest / most`, rounded up to `dtype` so that nothing is clipped; rounded
/// down where `most` times the scale would be infinite; 1 for zeros.
double scaleFor(double largest, unsigned most, DType dtype);

/// The palette of at most `entries` elements that has the least sum of squared
/// distances of `values`, each times its weight (1 without `weights`): an exact
/// solution of the k-means problem in one dimension. Ascending, not rounded.
/// More than 65,536 different values are first replaced by the means of that
/// many runs of neighbors.
std::vector<double> optimalPalette(llvm::ArrayRef<float> values,
                                   llvm::ArrayRef<double> weights,
                                   unsigned entries);

/// The index of the entry of the ascending `palette` that is nearest to
/// `value`; the lower one of two.
unsigned nearestEntry(llvm::ArrayRef<double> palette, double value);

/// Packs numbers of `bits` bits from the low bit on, without gaps.
std::vector<uint8_t> packNumbers(llvm::ArrayRef<uint8_t> numbers,
                                 unsigned bits);

} // namespace anec

#endif // ANEC_QUANTIZE_QUANTIZEARRAY_H
