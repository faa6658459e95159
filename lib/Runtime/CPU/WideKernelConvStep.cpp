//===- WideKernelConvStep.cpp - convolutions with few results -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The gradient of a convolution's weight is a convolution whose kernel is as
/// large as an image, with a few results. All images become one matrix with a
/// row for each result, [images * results, channels * kernel], made of whole
/// rows of the kernel's windows, and its product with the weight is transposed.
///
//===----------------------------------------------------------------------===//

#include "ConvSteps.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Convolution.h"
#include <array>

using namespace anec;
using namespace anec::cpu;

namespace {

/// There are always three spatial axes; missing leading ones have one element.
struct WideKernel {
  std::array<ConvAxis, 3> axes;
  size_t images, channels, outputs;
  size_t inputs = 1, results = 1, taps = 1; ///< of a channel

  explicit WideKernel(const Op &op) {
    llvm::ArrayRef<int64_t> x = op.operand(param::x)->type.shape;
    llvm::ArrayRef<int64_t> weight = op.operand(param::weight)->type.shape;
    images = size_t(x[0]);
    channels = size_t(weight[1]);
    outputs = size_t(weight[0]);
    axes.fill({1, 1, 1, 1, 0, 0});
    unsigned spatial = unsigned(x.size()) - 2;
    for (unsigned axis = 0; axis < spatial; ++axis)
      axes[3 - spatial + axis] =
          convAxis(op, axis, x[axis + 2], weight[axis + 2]);
    for (const ConvAxis &axis : axes) {
      inputs *= size_t(axis.input);
      results *= size_t(axis.output());
      taps *= size_t(axis.kernel);
    }
  }

  size_t rows() const { return images * results; }
  size_t columns() const { return channels * taps; }

  /// Copies a row of a window: inputs, or zeros in the padding.
  void copyRow(const float *row, int64_t first, float *to) const {
    const ConvAxis &width = axes[2];
    int64_t begin = std::clamp<int64_t>(-first, 0, width.kernel);
    int64_t end = std::clamp<int64_t>(width.input - first, begin, width.kernel);
    std::fill_n(to, begin, 0.0f);
    std::copy(row + first + begin, row + first + end, to + begin);
    std::fill(to + end, to + width.kernel, 0.0f);
  }

  /// Copies the window of one result in one channel.
  void copyWindow(const float *channel, size_t result, float *to) const {
    const auto &[depth, height, width] = axes;
    auto at = int64_t(result);
    int64_t w = at % width.output(), h = at / width.output() % height.output();
    int64_t d = at / (width.output() * height.output());
    for (int64_t kd = 0; kd < depth.kernel; ++kd)
      for (int64_t kh = 0; kh < height.kernel; ++kh, to += width.kernel) {
        int64_t z = d * depth.stride + kd * depth.dilation - depth.before;
        int64_t y = h * height.stride + kh * height.dilation - height.before;
        bool inside = z >= 0 && z < depth.input && y >= 0 && y < height.input;
        if (inside)
          copyRow(channel + (z * height.input + y) * width.input,
                  w * width.stride - width.before, to);
        else
          std::fill_n(to, width.kernel, 0.0f);
      }
  }
};

} // namespace

StepFn cpu::makeWideKernelConv(const Op &op, StepContext &ctx) {
  WideKernel conv(op);
  constexpr size_t mostElements = size_t(1) << 24;
  if (op.get(param::groups) != 1 || conv.axes[2].dilation != 1 ||
      conv.taps <= conv.results || conv.rows() * conv.outputs == 0 ||
      conv.channels == 0 || conv.rows() * conv.columns() > mostElements)
    return {};
  const float *x = ctx.storage.floats(op.operand(param::x));
  float *out = ctx.storage.floats(op.result());
  auto windows =
      std::make_shared<std::vector<float>>(conv.rows() * conv.columns());
  auto product =
      std::make_shared<std::vector<float>>(conv.rows() * conv.outputs);
  GemmShape shape;
  shape.m = conv.rows();
  shape.n = shape.ldc = conv.outputs;
  shape.k = shape.lda = shape.ldb = conv.columns();
  shape.transB = Transpose::Yes;
  GemmOperands operands;
  operands.a = windows->data();
  operands.b = ctx.storage.convWeight(op);
  operands.c = product->data();
  operands.columnBias = ctx.storage.convBias(op);
  GemmEpilogue epilogue{ctx.rounding(op.result())};
  std::shared_ptr<PackedWeight> packed;
  if (ctx.schedule.isConstant(op.operand(param::weight)))
    packed = std::make_shared<PackedWeight>(ctx.products.packRight(
        shape.k, shape.n, operands.b, shape.ldb, Transpose::Yes));
  return [=, &pool = ctx.pool, &kernels = ctx.products] {
    size_t grain = std::max<size_t>(1, 8192 / (conv.results * conv.taps));
    pool.parallelRanges(
        conv.images * conv.channels, grain,
        [&](size_t begin, size_t end, unsigned) {
          for (size_t number = begin; number < end; ++number) {
            size_t image = number / conv.channels;
            size_t channel = number % conv.channels;
            for (size_t result = 0; result < conv.results; ++result)
              conv.copyWindow(x + number * conv.inputs, result,
                              windows->data() +
                                  (image * conv.results + result) *
                                      conv.columns() +
                                  channel * conv.taps);
          }
        });
    if (packed)
      kernels.multiplyRight(pool, *packed, shape, operands, epilogue);
    else
      kernels.multiply(pool, shape, operands, epilogue);
    for (size_t image = 0; image < conv.images; ++image)
      for (size_t o = 0; o < conv.outputs; ++o)
        for (size_t result = 0; result < conv.results; ++result)
          out[(image * conv.outputs + o) * conv.results + result] =
              (*product)[(image * conv.results + result) * conv.outputs + o];
  };
}
