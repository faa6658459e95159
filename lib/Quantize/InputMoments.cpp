//===- InputMoments.cpp - second moments of the inputs of products --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Quantize/InputMoments.h"
#include "anec/IR/Elements.h"
#include "anec/Support/Digest.h"

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
