//===- QuantizeArray.cpp - quantizes the elements of a weight -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Quantize/QuantizeArray.h"
#include "anec/Support/Executor.h"
#include "lib/IR/Elements.h"
#include "lib/Support/Half.h"
#include <algorithm>
#include <atomic>
#include <bit>
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
// Exact scales
//===----------------------------------------------------------------------===//

/// Rounds `values` to `dtype`, fp16 or fp32.
static void roundAll(llvm::MutableArrayRef<float> values, DType dtype) {
  if (dtype != DType::FP16)
    return;
  constexpr size_t most = 256;
  uint16_t halves[most];
  for (size_t at = 0; at < values.size(); at += most) {
    size_t count = std::min(most, values.size() - at);
    floatsToHalves(values.data() + at, halves, count);
    halvesToFloats(halves, values.data() + at, count);
  }
}

/// Whether all elements of a block, which are rounded to `dtype`, are integers
/// times `scale`, as an op that unpacks them rounds the products.
static bool isExactScale(llvm::ArrayRef<float> values, float scale, float low,
                         float high, DType dtype) {
  if (scale == 0 || !std::isfinite(scale))
    return false;
  // The first few elements tell most of the wrong scales.
  constexpr size_t few = 4, most = 64;
  for (size_t at = 0, size = few; at < values.size(); at += size, size = most) {
    llvm::ArrayRef<float> part = values.slice(at).take_front(size);
    float products[most];
    bool fits = true;
    for (size_t i = 0; i < part.size(); ++i) {
      // To the nearest integer, where the sum has no bits for a fraction.
      constexpr float noFraction = 0x1.8p23f;
      float number = part[i] / scale + noFraction - noFraction;
      fits &= number >= low && number <= high;
      products[i] = scale * number;
    }
    if (!fits)
      return false;
    roundAll({products, part.size()}, dtype);
    if (!std::equal(part.begin(), part.end(), products))
      return false;
  }
  return true;
}

/// The scale by which a block has integers of `form`; 0 for none. The largest
/// element is one of the largest integers, as ggml and others choose scales.
static float exactScale(llvm::ArrayRef<float> values, QuantizedForm form,
                        DType dtype) {
  // Magnitudes of floats are in the order of their bits.
  constexpr uint32_t magnitude = 0x7fffffff, infinity = 0x7f800000;
  uint32_t most = 0;
  for (float value : values)
    most = std::max(most, std::bit_cast<uint32_t>(value) & magnitude);
  if (most == 0)
    return 1;
  if (most >= infinity)
    return 0;
  float largest = *llvm::find_if(values, [&](float value) {
    return (std::bit_cast<uint32_t>(value) & magnitude) == most;
  });
  float high = form == QuantizedForm::Int4 ? 7 : 127, low = -high - 1;
  // Integers of 4 bits are integers of 8 bits too.
  const float sign = largest < 0 ? -1 : 1; // of a positive scale
  for (float number :
       {sign * 127, -8.0f, sign * 7, -16.0f, sign * -127, sign * -7, -128.0f}) {
    if (number < low || number > high)
      continue;
    float scale = float(roundToDType(largest / number, dtype));
    // An element that was rounded can come from a scale beside.
    if (isExactScale(values, scale, low, high, dtype))
      return scale;
    float size = std::fabs(scale);
    for (bool isAbove : {true, false}) {
      float beside = std::copysign(
          size > 0 ? float(neighbor(size, isAbove, dtype)) : 0.0f, scale);
      if (isExactScale(values, beside, low, high, dtype))
        return beside;
    }
  }
  return 0;
}

/// Whether the elements of a block, `group` inputs of an output, are adjacent.
static bool isInSequence(llvm::ArrayRef<int64_t> shape, ProductAxes axes) {
  int64_t others = 1;
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (axis != axes.outputs && axis != axes.inputs)
      others *= extent;
  return others == 1 && axes.outputs < axes.inputs;
}

std::optional<QuantizedForm> anec::exactForm(const Constant &weight,
                                             ProductAxes axes,
                                             const Quantization &quantization,
                                             Executor &executor) {
  const Shape &shape = weight.type().shape;
  DType dtype = weight.dtype();
  size_t group = size_t(quantization.group);
  // Of others, GGUF has none.
  if (shape[axes.inputs] % quantization.group != 0 ||
      !isInSequence(shape, axes))
    return std::nullopt;
  std::vector<float> values(group);
  for (size_t i = 0; i < group; ++i)
    values[i] = float(
        loadElement(weight.storedDType(), weight.bytes().data(), int64_t(i)));
  roundAll(values, dtype);
  bool isRead = false;
  for (QuantizedForm form : {QuantizedForm::Int4, QuantizedForm::Int8}) {
    // Most weights of other origin differ in the first block.
    if (exactScale(llvm::ArrayRef(values).take_front(group), form, dtype) == 0)
      continue;
    if (!isRead) {
      values.resize(size_t(weight.numElements()));
      weight.copyToFloats(values.data());
      roundAll(values, dtype);
      isRead = true;
    }
    std::atomic<bool> isExact{true};
    executor.parallelRanges(
        values.size() / group, 256, [&](size_t begin, size_t end, unsigned) {
          for (; begin < end && isExact; ++begin) {
            llvm::ArrayRef block(values.data() + begin * group, group);
            if (exactScale(block, form, dtype) == 0)
              isExact = false;
          }
        });
    if (isExact)
      return form;
  }
  return std::nullopt;
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
  void toExactIntegers(int64_t block, llvm::ArrayRef<int64_t> positions,
                       llvm::MutableArrayRef<float> own);
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

void ArrayQuantizer::toExactIntegers(int64_t block,
                                     llvm::ArrayRef<int64_t> positions,
                                     llvm::MutableArrayRef<float> own) {
  roundAll(own, dtype);
  float scale = exactScale(own, quantization.form, dtype);
  assert(scale != 0 && "the form is not exact");
  result.tables[size_t(block)] = scale;
  for (auto [position, value] : llvm::zip_equal(positions, own)) {
    result.numbers[size_t(position)] =
        uint8_t(int8_t(std::nearbyint(value / scale)));
    errors[size_t(block)].squares += double(value) * value;
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
  else if (quantization.isExact)
    toExactIntegers(block, positions, own);
  else
    toIntegers(block, positions, own);
}

QuantizedArray ArrayQuantizer::run(Executor &executor) {
  constexpr size_t grain = 16;
  executor.parallelRanges(size_t(elements.count()), grain,
                          [&](size_t begin, size_t end, unsigned) {
                            for (; begin < end; ++begin)
                              quantizeBlock(int64_t(begin));
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
