//===- NormSteps.cpp - normalization --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Means and variances are computed in double precision, with the mean
/// subtracted before squaring. Each element is normalized in double precision
/// and rounded once.
///
//===----------------------------------------------------------------------===//

#include "AxisView.h"
#include "Moments.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Norm.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::cpu;

/// The sum of `term(element)`. Eight sums hide the latency of additions, and
/// are one or more vectors.
template <typename Term>
static double sumRow(size_t count, const float *x, Term term) {
  constexpr size_t lanes = 8;
  double sums[lanes] = {}, sum = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += term(double(x[i + lane]));
  for (; i < count; ++i)
    sum += term(double(x[i]));
  for (double each : sums)
    sum += each;
  return sum;
}

static Scaling momentsOfRow(size_t count, const float *x, double epsilon) {
  double mean = 0, variance = 0;
  moments(count, x, &mean, &variance);
  return {mean, 1 / std::sqrt(variance + epsilon)};
}

static Affines affinesOf(const Op &op, StepContext &ctx) {
  auto floats = [&](const Value *value) {
    return value ? ctx.storage.floats(value) : nullptr;
  };
  return {floats(op.operand(param::gamma)),
          floats(op.operand(param::betaValue))};
}

static Affine ofChannel(const Affines &affines, size_t c) {
  return {affines.scales ? double(affines.scales[c]) : 1.0,
          affines.shifts ? double(affines.shifts[c]) : 0.0};
}

static StepFn makeLayerNorm(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  Shape axes = op.get(param::axes);
  for (int64_t &axis : axes)
    axis += axis < 0 ? int64_t(x->type.rank()) : 0;
  std::optional<AxisView> view = viewAxes(x->type.shape, axes);
  // In another order, factors are not in the order of the elements.
  if (!view || !llvm::is_sorted(axes) || x->type.numElements() == 0)
    return {};
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  Rounding rounding = ctx.rounding(op.result());
  double epsilon = op.get(param::epsilon);
  return [=, view = *view, affines = affinesOf(op, ctx), &pool = ctx.pool] {
    splitWork(
        pool, view,
        [&](size_t begin, size_t end) {
          for (size_t row = begin; row < end; ++row) {
            const float *from = in + row * view.axis;
            Scaling by = momentsOfRow(view.axis, from, epsilon);
            normalizeElements(view.axis, from, by, affines,
                              out + row * view.axis, rounding);
          }
        },
        [&](size_t outer, size_t begin, size_t end) {
          size_t at = outer * view.axis * view.inner + begin;
          normalizeColumns({view.axis, end - begin, view.inner, in + at},
                           epsilon, affines, out + at, rounding);
        });
  };
}

/// Calls `channel(index, from, to)` with the elements of each channel (axis 1)
/// of each image.
template <typename Channel>
static StepFn eachChannel(const Op &op, StepContext &ctx, Channel channel) {
  const Value *x = op.operand(param::x);
  if (x->type.numElements() == 0)
    return {};
  size_t channels = size_t(x->type.shape[1]);
  size_t rows = size_t(x->type.shape[0]) * channels;
  size_t count = size_t(x->type.numElements()) / rows;
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  size_t grain = std::max<size_t>(1, 8192 / count);
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(rows, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t row = begin; row < end; ++row)
        channel(row % channels, count, in + row * count, out + row * count);
    });
  };
}

static StepFn makeInstanceNorm(const Op &op, StepContext &ctx) {
  Affines affines = affinesOf(op, ctx);
  Rounding rounding = ctx.rounding(op.result());
  double epsilon = op.get(param::epsilon);
  return eachChannel(
      op, ctx, [=](size_t c, size_t count, const float *from, float *to) {
        Scaling by = momentsOfRow(count, from, epsilon);
        normalizeRow(count, from, by, ofChannel(affines, c), to, rounding);
      });
}

static StepFn makeBatchNorm(const Op &op, StepContext &ctx) {
  Affines affines = affinesOf(op, ctx);
  const float *means = ctx.storage.floats(op.operand(param::mean));
  const float *variances = ctx.storage.floats(op.operand(param::variance));
  Rounding rounding = ctx.rounding(op.result());
  double epsilon = op.get(param::epsilon);
  return eachChannel(
      op, ctx, [=](size_t c, size_t count, const float *from, float *to) {
        Scaling by = {double(means[c]),
                      1 / std::sqrt(double(variances[c]) + epsilon)};
        normalizeRow(count, from, by, ofChannel(affines, c), to, rounding);
      });
}

// Over the last three axes together.
static StepFn makeL2Norm(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  if (x->type.numElements() == 0)
    return {};
  size_t count = 1;
  for (int64_t extent : llvm::ArrayRef(x->type.shape).take_back(3))
    count *= size_t(extent);
  size_t rows = size_t(x->type.numElements()) / count;
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  Rounding rounding = ctx.rounding(op.result());
  double epsilon = op.get(param::epsilon);
  return [=, &pool = ctx.pool] {
    pool.parallelFor(rows, [&](size_t row, unsigned) {
      const float *from = in + row * count;
      double sum =
          epsilon + sumRow(count, from, [](double v) { return v * v; });
      normalizeRow(count, from, {0, 1 / std::sqrt(sum)}, {1, 0},
                   out + row * count, rounding);
    });
  };
}

// x / (k + alpha / size * sum)^beta, where the sum is of the squares of `size`
// channels around each channel.
static StepFn makeLocalResponseNorm(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  std::optional<AxisView> view = viewAxes(x->type.shape, {1});
  if (x->type.numElements() == 0 || x->type.shape[1] == 1)
    return {};
  int64_t size = op.get(param::windowSize), channels = int64_t(view->axis);
  auto scale = float(op.get(param::alpha) / double(size));
  auto start = float(op.get(param::responseK)),
       beta = float(op.get(param::beta));
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  Rounding rounding = ctx.rounding(op.result());
  // Columns of a task, whose channels stay in the cache.
  size_t inner = view->inner, block = std::min<size_t>(inner, 512);
  size_t blocks = (inner + block - 1) / block;
  auto normBlock = [=](size_t number, float *sums) {
    size_t begin = number % blocks * block;
    size_t count = std::min(block, inner - begin);
    size_t at = number / blocks * view->axis * inner + begin;
    for (int64_t c = 0; c < channels; ++c) {
      std::fill_n(sums, count, 0.0f);
      int64_t last = std::min(c + (size - 1) / 2, channels - 1);
      for (int64_t other = std::max<int64_t>(c - size / 2, 0); other <= last;
           ++other) {
        const float *row = in + at + size_t(other) * inner;
        for (size_t i = 0; i < count; ++i)
          sums[i] += row[i] * row[i];
      }
      size_t place = at + size_t(c) * inner;
      unary(Unary::Affine, count, sums, sums, Rounding::None, scale, start);
      binary(Binary::Pow, count, sums, 1, &beta, 0, sums, Rounding::None);
      binary(Binary::Div, count, in + place, 1, sums, 1, out + place, rounding);
    }
  };
  return [=, outer = view->outer, &pool = ctx.pool] {
    pool.parallelFor(outer * blocks, [&](size_t number, unsigned worker) {
      normBlock(number, pool.scratch(worker, block));
    });
  };
}

static constexpr StepRow normStepsTable[] = {
    {&ops::BatchNorm, makeBatchNorm},
    {&ops::InstanceNorm, makeInstanceNorm},
    {&ops::L2Norm, makeL2Norm},
    {&ops::LayerNorm, makeLayerNorm},
    {&ops::LocalResponseNorm, makeLocalResponseNorm},
};

llvm::ArrayRef<StepRow> cpu::normSteps() { return normStepsTable; }
