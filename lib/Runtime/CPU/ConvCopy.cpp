//===- ConvCopy.cpp - inputs of a convolution with their padding ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ConvCopy.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
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

std::pair<size_t, size_t> CopiedAxis::inside(size_t phase) const {
  // Those with 0 <= inputAt < input.
  auto firstFrom = [&](int64_t at) -> size_t {
    int64_t distance = at - inputAt(phase, 0), step = int64_t(phases);
    return distance <= 0 ? 0 : size_t((distance + step - 1) / step);
  };
  size_t begin = std::min(firstFrom(0), extent);
  return {begin, std::clamp(firstFrom(of.input), begin, extent)};
}

void ConvCopy::fillRow(size_t begin, size_t end, const float *from,
                       float *out) const {
  size_t stride = axes[2].phases;
  std::fill_n(out, begin, 0.0f);
  std::fill(out + end, out + row(), 0.0f);
  if (stride == 1)
    std::copy_n(from, end - begin, out + begin);
  else if (stride == 2)
    for (size_t i = 0; i < end - begin; ++i)
      out[begin + i] = from[2 * i];
  else
    for (size_t i = 0; i < end - begin; ++i)
      out[begin + i] = from[i * stride];
}

void ConvCopy::fillChannel(const float *input, float *out) const {
  const auto &[depth, height, width] = axes;
  for (size_t pd = 0; pd < depth.phases; ++pd)
    for (size_t ph = 0; ph < height.phases; ++ph)
      for (size_t pw = 0; pw < width.phases; ++pw) {
        auto [begin, end] = width.inside(pw);
        int64_t first = width.inputAt(pw, begin);
        for (size_t d = 0; d < depth.extent; ++d)
          for (size_t h = 0; h < height.extent; ++h, out += row()) {
            int64_t z = depth.inputAt(pd, d), y = height.inputAt(ph, h);
            if (depth.isInside(z) && height.isInside(y))
              fillRow(begin, end,
                      input + (z * height.of.input + y) * width.of.input +
                          first,
                      out);
            else
              std::fill_n(out, row(), 0.0f);
          }
      }
}
