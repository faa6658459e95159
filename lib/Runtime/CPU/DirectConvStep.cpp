//===- DirectConvStep.cpp - convolutions of small groups ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Depthwise convolutions, and others whose groups have few outputs, without
/// matrix products. The channels of a group are copied with their padding, and
/// elements that are a stride apart next to each other: [channel, phase, row,
/// column]. Then each position of the kernel is an offset into the copy, and a
/// run of results is a weighted sum of runs of it, over the ends of rows. What
/// is computed there is left out of the result.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "anec/Ops/Convolution.h"
#include "anec/Ops/Ops.h"
#include <array>

using namespace anec;
using namespace anec::cpu;

namespace {

/// A spatial axis of the copy.
struct Axis {
  ConvAxis of{1, 1, 1, 1, 0, 0};
  size_t results = 1; ///< of the convolution
  size_t phases = 1;  ///< the stride
  size_t extent = 1;  ///< elements of each phase

  Axis() = default;
  explicit Axis(const ConvAxis &axis)
      : of(axis), results(size_t(axis.output())), phases(size_t(axis.stride)),
        extent(results + size_t((axis.kernel - 1) * axis.dilation) / phases) {}

  /// Where tap `k` of result 0 is.
  size_t phaseOf(size_t k) const { return k * size_t(of.dilation) % phases; }
  size_t firstOf(size_t k) const { return k * size_t(of.dilation) / phases; }
  /// The input at element `i` of `phase`; outside of it in the padding.
  int64_t inputAt(size_t phase, size_t i) const {
    return int64_t(i * phases + phase) - of.before;
  }
  bool isInside(int64_t at) const { return at >= 0 && at < of.input; }
};

/// The copy of a group's inputs. There are always three spatial axes.
struct Copy {
  std::array<Axis, 3> axes;
  size_t channels;

  size_t phases() const {
    return axes[0].phases * axes[1].phases * axes[2].phases;
  }
  /// Elements of one phase of one channel.
  size_t volume() const {
    return axes[0].extent * axes[1].extent * axes[2].extent;
  }
  size_t row() const { return axes[2].extent; }
  size_t size() const { return channels * phases() * volume(); }

  std::vector<uint32_t> offsets() const {
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
            size_t at =
                (depth.firstOf(kd) * height.extent + height.firstOf(kh)) *
                    width.extent +
                width.firstOf(kw);
            result.push_back(
                uint32_t((channel * phases() + phase) * volume() + at));
          }
    return result;
  }

  void fillRow(size_t phase, const float *input, float *out) const {
    const Axis &width = axes[2];
    // The elements inside are consecutive.
    int64_t stride = int64_t(width.phases);
    int64_t begin = 0, end = int64_t(width.extent);
    while (begin < end && width.inputAt(phase, size_t(begin)) < 0)
      ++begin;
    while (end > begin &&
           width.inputAt(phase, size_t(end - 1)) >= width.of.input)
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

  void fillChannel(const float *input, float *out) const {
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
};

/// A convolution of this kind.
struct DirectConv {
  Copy copy;
  std::vector<uint32_t> offsets; ///< of the taps of an output
  size_t tasks, groups, outputs; ///< outputs of a group
  size_t inputs = 1;             ///< elements of a group's inputs
  const float *x, *weights, *biases;
  float *out;
  Rounding rounding;

  /// Results of a row of the copy, computed at a time.
  static constexpr size_t runElements = 1024;

  size_t rowsPerRun() const {
    return std::max<size_t>(1, runElements / copy.row());
  }
  /// A vector may be read past the end.
  size_t copyFloats() const { return copy.size() + 16; }
  size_t scratchFloats() const {
    return copyFloats() + outputs * rowsPerRun() * copy.row();
  }

  void run(size_t number, float *scratch) const {
    const auto &[depth, height, width] = copy.axes;
    size_t channel = size_t(depth.of.input * height.of.input * width.of.input);
    for (size_t c = 0; c < copy.channels; ++c)
      copy.fillChannel(x + number * inputs + c * channel,
                       scratch + c * copy.phases() * copy.volume());
    std::fill_n(scratch + copy.size(), copyFloats() - copy.size(), 0.0f);

    size_t group = number % groups;
    const float *weight = weights + group * outputs * offsets.size();
    const float *bias = biases ? biases + group * outputs : nullptr;
    size_t results = depth.results * height.results * width.results;
    float *sums = scratch + copyFloats(),
          *to = out + number * outputs * results;
    for (size_t d = 0; d < depth.results; ++d)
      for (size_t h = 0; h < height.results; h += rowsPerRun()) {
        size_t rows = std::min(rowsPerRun(), height.results - h);
        size_t count = (rows - 1) * copy.row() + width.results;
        size_t at = (d * height.extent + h) * copy.row();
        weightedSums(count, offsets.size(), offsets.data(), scratch + at,
                     outputs, weight, bias, sums, rows * copy.row(), rounding);
        for (size_t o = 0; o < outputs; ++o)
          for (size_t row = 0; row < rows; ++row)
            std::copy_n(sums + (o * rows + row) * copy.row(), width.results,
                        to + o * results +
                            (d * height.results + h + row) * width.results);
      }
  }
};

} // namespace

StepFn cpu::makeDirectConv(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x), *weight = op.operand(param::weight),
              *bias = op.operand(param::bias);
  auto conv = std::make_shared<DirectConv>();
  llvm::ArrayRef<int64_t> shape = x->type.shape, kernel = weight->type.shape;
  conv->groups = size_t(op.get(param::groups));
  conv->outputs = size_t(kernel[0]) / conv->groups;
  conv->tasks = size_t(shape[0]) * conv->groups;
  // With more outputs, a product reads each element of the image less often.
  constexpr size_t mostOutputs = 16;
  if (conv->groups == 1 || conv->outputs > mostOutputs ||
      op.result()->type.numElements() == 0 || x->type.numElements() == 0)
    return {};
  conv->copy.channels = size_t(kernel[1]);
  conv->inputs = conv->copy.channels;
  unsigned spatial = unsigned(shape.size()) - 2;
  for (unsigned axis = 0; axis < spatial; ++axis) {
    conv->copy.axes[3 - spatial + axis] =
        Axis(convAxis(op, axis, shape[axis + 2], kernel[axis + 2]));
    conv->inputs *= size_t(shape[axis + 2]);
  }
  // Offsets are words, and the copy should stay in the cache.
  constexpr size_t mostElements = size_t(1) << 20;
  if (conv->copy.size() > mostElements)
    return {};
  conv->offsets = conv->copy.offsets();
  conv->x = ctx.storage.floats(x);
  conv->weights = ctx.storage.floats(weight);
  conv->biases = bias ? ctx.storage.floats(bias) : nullptr;
  conv->out = ctx.storage.floats(op.result());
  conv->rounding = ctx.rounding(op.result());
  return [conv, &pool = ctx.pool] {
    pool.parallelRanges(
        conv->tasks, 1, [&](size_t begin, size_t end, unsigned worker) {
          float *scratch = pool.scratch(worker, conv->scratchFloats());
          for (size_t number = begin; number < end; ++number)
            conv->run(number, scratch);
        });
  };
}
