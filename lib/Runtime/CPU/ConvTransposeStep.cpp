//===- ConvTransposeStep.cpp - transposed convolutions --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The transposed weight of a group times an image's channels gives, for each
/// channel and position of the kernel, a row over the positions of the image.
/// Each element of a row is added to the result that it belongs to.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Convolution.h"
#include "lib/Ops/Rows/Conv.h"
#include <algorithm>
#include <array>

using namespace anec;
using namespace anec::cpu;

namespace {

/// There are always three spatial axes; missing leading ones have one element.
struct ConvTransposeExtents {
  struct Axis {
    ConvAxis of; ///< of the convolution from the result to the operand
    int64_t positions;
  };
  std::array<Axis, 3> axes;
  size_t images, groups, inputs, outputs; ///< channels per group
  size_t positions = 1, results = 1, taps = 1;

  explicit ConvTransposeExtents(const Op &op) {
    llvm::ArrayRef<int64_t> x = op.operand(param::x)->type.shape,
                            weight = op.operand(param::weight)->type.shape,
                            out = op.result()->type.shape;
    images = size_t(x[0]);
    groups = size_t(op.get(param::groups));
    inputs = size_t(weight[0]) / groups;
    outputs = size_t(weight[1]);
    axes.fill({{1, 1, 1, 1, 0, 0}, 1});
    unsigned spatial = x.size() - 2;
    for (unsigned i = 0; i < spatial; ++i)
      axes[3 - spatial + i] = {
          transposedAxis(op, i, x[i + 2], out[i + 2], weight[i + 2]), x[i + 2]};
    for (const Axis &axis : axes) {
      positions *= size_t(axis.positions);
      results *= size_t(axis.of.input);
      taps *= size_t(axis.of.kernel);
    }
  }

  size_t rowsOfGroup() const { return outputs * taps; }
};

} // namespace

/// Adds a row, of one position of the kernel's last axis, to a row of results.
static void addRow(const ConvTransposeExtents::Axis &axis, int64_t tap,
                   const float *row, float *out) {
  const ConvAxis &of = axis.of;
  int64_t shift = tap * of.dilation - of.before, stride = of.stride;
  // The positions whose results are inside.
  auto firstFrom = [&](int64_t result) {
    return result <= shift ? 0 : (result - shift + stride - 1) / stride;
  };
  int64_t begin = firstFrom(0);
  int64_t end = std::min(axis.positions, firstFrom(of.input));
  if (begin >= end)
    return;
  float *to = out + begin * stride + shift;
  row += begin;
  if (stride == 1)
    return binary(Binary::Add, size_t(end - begin), to, 1, row, 1, to,
                  Rounding::None);
  for (int64_t i = 0; i < end - begin; ++i)
    to[i * stride] += row[i];
}

/// Adds the rows of a channel [taps, positions] to its results.
static void addChannel(const ConvTransposeExtents &geometry, const float *rows,
                       float *out) {
  const auto &[depth, height, width] = geometry.axes;
  auto target = [](const ConvTransposeExtents::Axis &axis, int64_t i,
                   int64_t tap) {
    return i * axis.of.stride + tap * axis.of.dilation - axis.of.before;
  };
  for (int64_t kd = 0; kd < depth.of.kernel; ++kd)
    for (int64_t kh = 0; kh < height.of.kernel; ++kh)
      for (int64_t kw = 0; kw < width.of.kernel; ++kw)
        for (int64_t d = 0; d < depth.positions; ++d)
          for (int64_t h = 0; h < height.positions;
               ++h, rows += width.positions) {
            int64_t z = target(depth, d, kd), y = target(height, h, kh);
            if (z >= 0 && z < depth.of.input && y >= 0 && y < height.of.input)
              addRow(width, kw, rows,
                     out + (z * height.of.input + y) * width.of.input);
          }
}

static StepFn makeConvTranspose(const Op &op, StepContext &ctx) {
  ConvTransposeExtents geometry(op);
  if (!geometry.positions || !geometry.results || !geometry.inputs)
    return {};
  const Value *bias = op.operand(param::bias);
  const float *x = ctx.storage.floats(op.operand(param::x));
  const float *weights = ctx.storage.floats(op.operand(param::weight));
  const float *biases = bias ? ctx.storage.floats(bias) : nullptr;
  float *out = ctx.storage.floats(op.result());
  Rounding rounding = ctx.rounding(op.result());

  GemmShape shape;
  shape.m = shape.lda = geometry.rowsOfGroup();
  shape.k = geometry.inputs;
  shape.n = shape.ldb = shape.ldc = geometry.positions;
  shape.transA = Transpose::Yes;
  // Read along the positions of the kernel, the weight would be slower.
  std::shared_ptr<PackedWeight> packed;
  if (ctx.schedule.isConstant(op.operand(param::weight)) &&
      geometry.groups == 1)
    packed = std::make_shared<PackedWeight>(ctx.products.packLeft(
        shape.m, shape.k, weights, shape.lda, shape.transA));
  // As many groups at a time as the rows of a few megabytes.
  constexpr size_t mostElements = size_t(1) << 20;
  size_t rowElements = shape.m * shape.n;
  size_t together = std::clamp<size_t>(mostElements / rowElements, 1,
                                       geometry.images * geometry.groups);
  auto rows = std::make_shared<std::vector<float>>(together * rowElements);

  return [=, &pool = ctx.pool, &kernels = ctx.products] {
    size_t total = geometry.images * geometry.groups;
    std::vector<GemmOperands> batch;
    for (size_t first = 0; first < total; first += together) {
      size_t count = std::min(together, total - first);
      batch.clear();
      for (size_t i = 0; i < count; ++i) {
        size_t group = (first + i) % geometry.groups;
        batch.push_back({.a = weights + group * shape.k * shape.m,
                         .b = x + (first + i) * shape.k * shape.n,
                         .c = rows->data() + i * rowElements});
      }
      if (packed)
        kernels.multiplyLeft(pool, *packed, shape, batch, {});
      else
        kernels.multiply(pool, shape, batch, {});
      pool.parallelFor(count * geometry.outputs, [&](size_t task, unsigned) {
        size_t channel = first * geometry.outputs + task;
        float *to = out + channel * geometry.results;
        float start =
            biases ? biases[channel % (geometry.groups * geometry.outputs)]
                   : 0.0f;
        std::fill_n(to, geometry.results, start);
        addChannel(geometry, rows->data() + task * geometry.taps * shape.n, to);
        if (rounding == Rounding::FP16)
          roundToHalf(geometry.results, to, to);
      });
    }
  };
}

static constexpr StepRow convTransposeStepsTable[] = {
    {&ops::ConvTranspose, makeConvTranspose},
};

llvm::ArrayRef<StepRow> cpu::convTransposeSteps() {
  return convTransposeStepsTable;
}
