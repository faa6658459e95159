//===- ConvCopy.cpp - inputs of a convolution with their padding ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ConvCopy.h"
#include "anec/Ops/Ops.h"
#include <algorithm>

using namespace anec;
using namespace anec::cpu;

ConvCopy::ConvCopy(const Op &op, size_t channels) : channels(channels) {
  llvm::ArrayRef<int64_t> shape = op.operand(param::x)->type.shape,
                          kernel = op.operand(param::weight)->type.shape;
  unsigned spatial = unsigned(shape.size()) - 2;
  for (unsigned axis = 0; axis < spatial; ++axis)
    axes[3 - spatial + axis] =
        CopiedAxis(convAxis(op, axis, shape[axis + 2], kernel[axis + 2]));
}

bool ConvCopy::isImage() const {
  return std::all_of(axes.begin(), axes.end(), [](const CopiedAxis &axis) {
    return axis.phases == 1 && axis.of.before == 0 &&
           int64_t(axis.extent) == axis.of.input;
  });
}

std::vector<uint32_t> ConvCopy::offsets() const {
  std::vector<uint32_t> result;
  const auto &[depth, height, width] = axes;
  for (size_t channel = 0; channel < channels; ++channel)
    for (size_t kd = 0; kd < size_t(depth.of.kernel); ++kd)
      for (size_t kh = 0; kh < size_t(height.of.kernel); ++kh)
        for (size_t kw = 0; kw < size_t(width.of.kernel); ++kw) {
          size_t phase =
              (depth.phaseOf(kd) * height.phases + height.phaseOf(kh)) *
                  width.phases +
              width.phaseOf(kw);
          size_t at = (depth.firstOf(kd) * height.extent + height.firstOf(kh)) *
                          width.extent +
                      width.firstOf(kw);
          result.push_back(
              uint32_t((channel * phases() + phase) * volume() + at));
        }
  return result;
}

std::vector<uint32_t> ConvCopy::positions() const {
  std::vector<uint32_t> result;
  const auto &[depth, height, width] = axes;
  for (size_t d = 0; d < depth.results; ++d)
    for (size_t h = 0; h < height.results; ++h)
      for (size_t w = 0; w < width.results; ++w)
        result.push_back(uint32_t((d * height.extent + h) * width.extent + w));
  return result;
}

void ConvCopy::fillRow(size_t phase, const float *input, float *out) const {
  const CopiedAxis &width = axes[2];
  // The elements inside are consecutive.
  int64_t stride = int64_t(width.phases);
  int64_t begin = 0, end = int64_t(width.extent);
  while (begin < end && width.inputAt(phase, size_t(begin)) < 0)
    ++begin;
  while (end > begin && width.inputAt(phase, size_t(end - 1)) >= width.of.input)
    --end;
  std::fill_n(out, begin, 0.0f);
  std::fill(out + end, out + width.extent, 0.0f);
  const float *from = input + width.inputAt(phase, size_t(begin));
  if (stride == 1)
    std::copy_n(from, end - begin, out + begin);
  else if (stride == 2)
    for (int64_t i = 0; i < end - begin; ++i)
      out[begin + i] = from[2 * i];
  else
    for (int64_t i = 0; i < end - begin; ++i)
      out[begin + i] = from[i * stride];
}

void ConvCopy::fillChannel(const float *input, float *out) const {
  const auto &[depth, height, width] = axes;
  for (size_t pd = 0; pd < depth.phases; ++pd)
    for (size_t ph = 0; ph < height.phases; ++ph)
      for (size_t pw = 0; pw < width.phases; ++pw)
        for (size_t d = 0; d < depth.extent; ++d)
          for (size_t h = 0; h < height.extent; ++h, out += row()) {
            int64_t z = depth.inputAt(pd, d), y = height.inputAt(ph, h);
            if (depth.isInside(z) && height.isInside(y))
              fillRow(pw, input + (z * height.of.input + y) * width.of.input,
                      out);
            else
              std::fill_n(out, row(), 0.0f);
          }
}
