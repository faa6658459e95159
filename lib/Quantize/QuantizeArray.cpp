//===- QuantizeArray.cpp - quantizes the elements of a weight -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Quantize/QuantizeArray.h"
#include "anec/Support/Executor.h"
#include "lib/IR/Elements.h"
#include <algorithm>
#include <cfloat>
#include <cmath>

using namespace anec;

double QuantizedArray::relativeError() const {
  return squares > 0 ? std::sqrt(squaredErrors / squares) : 0;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

BlockedElements::BlockedElements(llvm::ArrayRef<int64_t> shape,
                                 llvm::ArrayRef<int64_t> blocks)
    : strides(rowMajorStrides(shape)), blockStrides(rowMajorStrides(blocks)) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    extents.push_back(shape[axis] / blocks[axis]);
    starts.push_back(blocks[axis]);
    number *= blocks[axis];
  }
}

void BlockedElements::positions(int64_t index,
                                std::vector<int64_t> &out) const {
  int64_t first = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis)
    first += index / blockStrides[axis] % starts[axis] * extents[axis] *
             strides[axis];
  out.assign(1, first);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    // Row-major: the elements so far, each with those along the next axis.
    std::vector<int64_t> wider;
    wider.reserve(out.size() * size_t(extents[axis]));
    for (int64_t position : out)
      for (int64_t i = 0; i < extents[axis]; ++i)
        wider.push_back(position + i * strides[axis]);
    out = std::move(wider);
  }
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static double neighbor(double value, bool isAbove, DType dtype) {
  if (dtype == DType::FP16) {
    uint8_t bytes[2];
    storeElement(dtype, bytes, 0, value);
    uint16_t bits = uint16_t(loadInteger(DType::UInt16, bytes, 0));
    bits = uint16_t(isAbove ? bits + 1 : bits - 1); // of a positive number
    storeElement(DType::UInt16, bytes, 0, bits);
    return loadElement(dtype, bytes, 0);
  }
  return std::nextafterf(float(value), isAbove ? FLT_MAX : 0.0f);
}

double anec::scaleFor(double largest, unsigned most, DType dtype) {
  if (largest == 0)
    return 1;
  double exact = largest / most, scale = roundToDType(exact, dtype);
  if (scale < exact)
    scale = neighbor(scale, /*isAbove=*/true, dtype);
  if (std::isinf(roundToDType(scale * most, dtype)))
    scale = neighbor(scale, /*isAbove=*/false, dtype);
  return scale;
}

/// The integer nearest to `value / scale`, ties to even.
static double integerOf(double value, double scale, double most) {
  return std::clamp(std::nearbyint(value / scale), -most, most);
}

static double squaredErrors(llvm::ArrayRef<float> values, double scale,
                            double most) {
  double sum = 0;
  for (float value : values) {
    double error = value - scale * integerOf(value, scale, most);
    sum += error * error;
  }
  return sum;
}

/// Of scales that clip the largest elements, the one with the least error: with
/// four bits, the others gain more than these lose.
static double clippingScale(llvm::ArrayRef<float> values, double largest,
                            unsigned most, DType dtype) {
  double best = scaleFor(largest, most, dtype);
  double least = squaredErrors(values, best, most);
  constexpr int steps = 64, fewest = 32;
  for (int step = steps - 1; step >= fewest; --step) {
    double scale = scaleFor(largest * step / steps, most, dtype);
    double sum = squaredErrors(values, scale, most);
    if (sum < least) {
      least = sum;
      best = scale;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

int64_t anec::countNotFinite(const Constant &weight) {
  std::vector<float> values(size_t(weight.numElements()));
  weight.copyToFloats(values.data());
  return std::count_if(values.begin(), values.end(),
                       [](float value) { return !std::isfinite(value); });
}

namespace {

/// What a block gives to the whole.
struct BlockErrors {
  double squares = 0, squaredErrors = 0;
};

class ArrayQuantizer {
public:
  ArrayQuantizer(const Constant &weight, const Shape &blocks,
                 const Quantization &quantization)
      : quantization(quantization), dtype(weight.dtype()),
        elements(weight.type().shape, blocks),
        values(size_t(weight.numElements())), errors(size_t(elements.count())) {
    weight.copyToFloats(values.data());
    result.numbers.resize(values.size());
    result.tables.resize(size_t(elements.count()) * entries());
  }
  QuantizedArray run(Executor &executor);

private:
  size_t entries() const {
    return quantization.isPalette() ? size_t(1) << quantization.bits() : 1;
  }
  void quantizeBlock(int64_t block);
  void toIntegers(int64_t block, llvm::ArrayRef<int64_t> positions,
                  llvm::ArrayRef<float> own);
  void toIndices(int64_t block, llvm::ArrayRef<int64_t> positions,
                 llvm::ArrayRef<float> own);
  void note(int64_t block, float value, double unpacked);

  const Quantization &quantization;
  DType dtype;
  BlockedElements elements;
  std::vector<float> values;
  std::vector<BlockErrors> errors;
  QuantizedArray result;
};

} // namespace

void ArrayQuantizer::note(int64_t block, float value, double unpacked) {
  double error = value - unpacked;
  errors[size_t(block)].squares += double(value) * value;
  errors[size_t(block)].squaredErrors += error * error;
}

void ArrayQuantizer::toIntegers(int64_t block,
                                llvm::ArrayRef<int64_t> positions,
                                llvm::ArrayRef<float> own) {
  bool isInt4 = quantization.form == QuantizedForm::Int4;
  unsigned most = isInt4 ? 7 : 127;
  double largest = 0;
  for (float value : own)
    largest = std::max(largest, double(std::fabs(value)));
  double scale = isInt4 && largest > 0
                     ? clippingScale(own, largest, most, dtype)
                     : scaleFor(largest, most, dtype);
  result.tables[size_t(block)] = scale;
  for (auto [position, value] : llvm::zip_equal(positions, own)) {
    double number = integerOf(value, scale, most);
    result.numbers[size_t(position)] = uint8_t(int8_t(number));
    note(block, value, roundToDType(scale * number, dtype));
  }
}

void ArrayQuantizer::toIndices(int64_t block, llvm::ArrayRef<int64_t> positions,
                               llvm::ArrayRef<float> own) {
  std::vector<double> palette = optimalPalette(own, {}, unsigned(entries()));
  for (double &entry : palette)
    entry = roundToDType(entry, dtype);
  for (auto [position, value] : llvm::zip_equal(positions, own)) {
    unsigned index = nearestEntry(palette, value);
    result.numbers[size_t(position)] = uint8_t(index);
    note(block, value, palette[index]);
  }
  palette.resize(entries(), palette.back());
  std::copy(palette.begin(), palette.end(),
            result.tables.begin() + ptrdiff_t(block * int64_t(entries())));
}

void ArrayQuantizer::quantizeBlock(int64_t block) {
  std::vector<int64_t> positions;
  elements.positions(block, positions);
  std::vector<float> own;
  own.reserve(positions.size());
  for (int64_t position : positions)
    own.push_back(values[size_t(position)]);
  if (quantization.isPalette())
    toIndices(block, positions, own);
  else
    toIntegers(block, positions, own);
}

QuantizedArray ArrayQuantizer::run(Executor &executor) {
  executor.parallelFor(size_t(elements.count()), [&](size_t block, unsigned) {
    quantizeBlock(int64_t(block));
  });
  for (const BlockErrors &block : errors) {
    result.squares += block.squares;
    result.squaredErrors += block.squaredErrors;
  }
  return std::move(result);
}

QuantizedArray anec::quantizeArray(const Constant &weight, ProductAxes axes,
                                   const Quantization &quantization,
                                   Executor &executor) {
  Shape blocks = quantization.blocks(weight.type().shape, axes);
  return ArrayQuantizer(weight, blocks, quantization).run(executor);
}

std::vector<uint8_t> anec::packNumbers(llvm::ArrayRef<uint8_t> numbers,
                                       unsigned bits) {
  std::vector<uint8_t> bytes((numbers.size() * bits + 7) / 8);
  uint64_t position = 0;
  for (uint8_t number : numbers) {
    unsigned value = number & ((1u << bits) - 1), shift = position % 8;
    bytes[position / 8] |= uint8_t(value << shift);
    if (shift + bits > 8)
      bytes[position / 8 + 1] |= uint8_t(value >> (8 - shift));
    position += bits;
  }
  return bytes;
}
