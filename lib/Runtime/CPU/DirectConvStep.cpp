//===- DirectConvStep.cpp - convolutions of small groups ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Depthwise convolutions, and others whose groups have few outputs, without
/// matrix products: weighted sums of runs of a ConvCopy of each group.
///
//===----------------------------------------------------------------------===//

#include "ConvCopy.h"
#include "ConvSteps.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// A convolution of this kind.
struct DirectConv {
  ConvCopy copy;
  std::vector<uint32_t> offsets; ///< of the taps of an output
  size_t tasks, groups, outputs; ///< outputs of a group
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
    size_t channel = copy.inputVolume();
    for (size_t c = 0; c < copy.channels; ++c)
      copy.fillChannel(x + number * copy.channels * channel + c * channel,
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
        weightedSums(count, {offsets.size(), offsets.data(), scratch + at},
                     {outputs, weight, bias}, {sums, rows * copy.row()},
                     rounding);
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
  const Value *x = op.operand(param::x), *weight = op.operand(param::weight);
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
  conv->copy = ConvCopy(op, size_t(kernel[1]));
  // Offsets are words, and the copy should stay in the cache.
  constexpr size_t mostElements = size_t(1) << 20;
  if (conv->copy.size() > mostElements)
    return {};
  conv->offsets = conv->copy.offsets();
  conv->x = ctx.storage.floats(x);
  conv->weights = ctx.storage.convWeight(op);
  conv->biases = ctx.storage.convBias(op);
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
