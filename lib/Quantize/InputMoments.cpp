//===- InputMoments.cpp - what is known of the inputs of products ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Quantize/InputMoments.h"
#include "lib/IR/Elements.h"
#include "lib/Support/Digest.h"
#include "lib/Support/Half.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace anec;

std::optional<WeightMatrix> WeightMatrix::of(const Constant &weight,
                                             ProductAxes axes) {
  llvm::ArrayRef<int64_t> shape = weight.type().shape;
  WeightMatrix matrix;
  matrix.outputs = shape[axes.outputs];
  matrix.inputs = shape[axes.inputs];
  if (matrix.outputs * matrix.inputs != weight.numElements())
    return std::nullopt;
  Shape strides = rowMajorStrides(shape);
  matrix.outputStride = strides[axes.outputs];
  matrix.inputStride = strides[axes.inputs];
  std::vector<float> stored(size_t(weight.numElements()));
  weight.copyToFloats(stored.data());
  matrix.elements.reserve(stored.size());
  for (int64_t output = 0; output < matrix.outputs; ++output)
    for (int64_t input = 0; input < matrix.inputs; ++input)
      matrix.elements.push_back(stored[size_t(matrix.position(output, input))]);
  return matrix;
}

static std::string digestOf(const WeightMatrix &weight) {
  return std::to_string(weight.outputs) + "x" + std::to_string(weight.inputs) +
         " " +
         blake3({reinterpret_cast<const uint8_t *>(weight.elements.data()),
                 weight.elements.size() * sizeof(float)});
}

void InputMoments::add(const WeightMatrix &weight,
                       std::shared_ptr<const SecondMoments> added) {
  moments[digestOf(weight)].push_back(std::move(added));
}

std::optional<SecondMoments>
InputMoments::find(const WeightMatrix &weight) const {
  auto found = moments.find(digestOf(weight));
  if (found == moments.end())
    return std::nullopt;
  SecondMoments all;
  all.sums.resize(size_t(weight.inputs * weight.inputs));
  for (const auto &part : found->second) {
    all.samples += part->samples;
    for (size_t i = 0; i < part->sums.size(); ++i)
      all.sums[i] += part->sums[i];
  }
  return all.samples ? std::optional(std::move(all)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

float InputRange::whole() const {
  float most = 0;
  for (float magnitude : largest) {
    if (!std::isfinite(magnitude))
      return magnitude;
    most = std::max(most, magnitude);
  }
  return most;
}

/// The elements of a weight with its axes in the order outputs, inputs, others.
static std::vector<float> byProduct(const Constant &weight, ProductAxes axes) {
  std::vector<float> stored(size_t(weight.numElements()));
  weight.copyToFloats(stored.data());
  if (axes.outputs == 0 && axes.inputs == 1)
    return stored;
  llvm::ArrayRef<int64_t> shape = weight.type().shape;
  Shape strides = rowMajorStrides(shape), extents, steps;
  auto take = [&](unsigned axis) {
    extents.push_back(shape[axis]);
    steps.push_back(strides[axis]);
  };
  take(axes.outputs);
  take(axes.inputs);
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (axis != axes.outputs && axis != axes.inputs)
      take(axis);
  std::vector<float> ordered(stored.size());
  Shape index(extents.size(), 0);
  int64_t from = 0;
  for (float &element : ordered) {
    element = stored[size_t(from)];
    for (size_t axis = extents.size(); axis-- > 0;) {
      from += steps[axis];
      if (++index[axis] < extents[axis])
        break;
      from -= steps[axis] * extents[axis];
      index[axis] = 0;
    }
  }
  return ordered;
}

std::string anec::weightDigest(const Constant &weight, ProductAxes axes,
                               int64_t channels) {
  llvm::ArrayRef<int64_t> shape = weight.type().shape;
  std::vector<float> elements = byProduct(weight, axes);
  return std::to_string(shape[axes.outputs]) + "x" +
         std::to_string(shape[axes.inputs]) + " of " +
         std::to_string(channels) + " " +
         blake3({reinterpret_cast<const uint8_t *>(elements.data()),
                 elements.size() * sizeof(float)});
}

std::vector<double> anec::activationScales(const InputRange &range,
                                           const ActivationQuantization &form) {
  constexpr double leastNormal = 0x1p-14, most = 65504, integers = 127;
  double whole = double(range.whole());
  auto scale = [&](double largest) {
    if (whole == 0)
      return 1.0;
    double exact = std::max(largest, whole / 128) * form.margin / integers;
    return roundToHalf(std::clamp(exact, leastNormal, most));
  };
  if (form.scales == ActivationQuantization::Scales::Tensor)
    return {scale(whole)};
  std::vector<double> scales;
  for (float largest : range.largest)
    scales.push_back(scale(double(largest)));
  return scales;
}

void InputMoments::addRange(const std::string &digest,
                            std::shared_ptr<const InputRange> range) {
  weightsOfRange[range.get()].push_back(digest);
  ranges[digest].push_back(std::move(range));
}

std::optional<InputRange>
InputMoments::findRange(const std::string &digest) const {
  InputRange all;
  std::set<std::string> seen = {digest};
  std::set<const InputRange *> added;
  std::vector<std::string> waiting = {digest};
  while (!waiting.empty()) {
    auto found = ranges.find(waiting.back());
    waiting.pop_back();
    if (found == ranges.end())
      continue;
    for (const auto &range : found->second) {
      if (!added.insert(range.get()).second)
        continue;
      all.runs += range->runs;
      all.largest.resize(std::max(all.largest.size(), range->largest.size()));
      for (size_t i = 0; i < range->largest.size(); ++i)
        // Keeps what is not a number.
        if (!(all.largest[i] >= range->largest[i]))
          all.largest[i] =
              std::isnan(all.largest[i]) ? all.largest[i] : range->largest[i];
      for (const std::string &other : weightsOfRange.find(range.get())->second)
        if (seen.insert(other).second)
          waiting.push_back(other);
    }
  }
  return all.runs ? std::optional(std::move(all)) : std::nullopt;
}

void InputMoments::addErrors(const std::string &digest,
                             std::shared_ptr<const ActivationErrors> added) {
  errors[digest].push_back(std::move(added));
}

std::optional<ActivationErrors>
InputMoments::findErrors(const std::string &digest) const {
  auto found = errors.find(digest);
  if (found == errors.end())
    return std::nullopt;
  ActivationErrors all;
  for (const auto &part : found->second) {
    all.elements += part->elements;
    all.clipped += part->clipped;
    all.squares += part->squares;
    all.squaredErrors += part->squaredErrors;
    all.outputSquares += part->outputSquares;
    all.outputSquaredErrors += part->outputSquaredErrors;
  }
  return all.elements > 0 ? std::optional(all) : std::nullopt;
}
