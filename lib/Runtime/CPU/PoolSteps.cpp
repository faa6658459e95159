//===- PoolSteps.cpp - pooling --------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A row of results is folded from the rows of the input that its windows
/// cover, by the kernel for windows of rows.
///
//===----------------------------------------------------------------------===//

#include "Moments.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Pooling.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>

using namespace anec;
using namespace anec::cpu;

namespace {

/// The part of a window that is within the input, and its number of elements
/// with the padding that counts.
struct Extent {
  int64_t begin, end, counted;
};

/// There are always three spatial axes; missing leading ones have one element.
struct Windows {
  struct Axis {
    int64_t input = 1, stride = 1, kernel = 1, before = 0;
    std::vector<Extent> extents = {{0, 1, 1}}; ///< of each result
  };
  std::array<Axis, 3> axes;
  Reduce kind;
  bool excludesPadding = true;      ///< from what sums are divided by
  std::vector<double> columnCounts; ///< by which sums are divided, of results
  bool hasEmptyColumns = false;     ///< some windows are outside of the input
  size_t inputs = 1, results = 1;   ///< of a channel

  explicit Windows(const Op &op) {
    PoolAxes given = poolAxes(op, op.operand(param::x)->type.shape);
    for (size_t i = 0; i < given.size(); ++i) {
      const PoolAxis &from = given[i];
      Axis &axis = axes[3 - given.size() + i];
      axis.input = from.input;
      axis.stride = from.stride;
      axis.kernel = from.kernel;
      axis.before = from.before;
      axis.extents.clear();
      for (int64_t at = 0; at < from.output; ++at) {
        int64_t begin = at * from.stride - from.before;
        // What `ceil_mode` adds after the padding does not count.
        int64_t end = std::min(begin + from.kernel, from.input + from.after);
        Extent extent = {std::max<int64_t>(begin, 0), std::min(end, from.input),
                         end - begin};
        extent.end = std::max(extent.begin, extent.end);
        axis.extents.push_back(extent);
      }
    }
    for (const Axis &axis : axes) {
      inputs *= size_t(axis.input);
      results *= axis.extents.size();
    }
    kind = op.is(ops::MaxPool)  ? Reduce::Max
           : op.is(ops::L2Pool) ? Reduce::L2
                                : Reduce::Sum;
    hasEmptyColumns = llvm::any_of(axes[2].extents, [](const Extent &extent) {
      return extent.end == extent.begin;
    });
    if (!op.is(ops::AvgPool))
      return;
    excludesPadding = op.get(param::excludePaddingFromAverage);
    for (const Extent &extent : axes[2].extents)
      columnCounts.push_back(double(counted(extent)));
  }

  /// How many elements of an axis a mean is that of.
  int64_t counted(const Extent &extent) const {
    int64_t count =
        excludesPadding ? extent.end - extent.begin : extent.counted;
    return std::max<int64_t>(count, 1);
  }

  PoolShape shape() const {
    const Axis &columns = axes[2];
    return {.columns = size_t(columns.input),
            .before = size_t(columns.before),
            .kernel = size_t(columns.kernel),
            .stride = size_t(columns.stride),
            .outputs = columns.extents.size(),
            .counts = columnCounts.empty() ? nullptr : columnCounts.data()};
  }

  /// Whether there is one window, which covers a channel.
  bool isWhole() const {
    return results == 1 && llvm::all_of(axes, [](const Axis &axis) {
             return axis.extents[0].begin == 0 &&
                    axis.extents[0].end == axis.input;
           });
  }
};

} // namespace

namespace {

/// Pools the channels of one task.
class Pooling {
public:
  Pooling(const Windows &windows, double *scratch)
      : windows(windows), shape(windows.shape()), scratch(scratch) {
    for (size_t i = 0; i < rowsTogether; ++i)
      poolPad(windows.kind, shape, scratch + i * poolScratch(shape));
  }

  static size_t scratchFloats(const Windows &windows) {
    return 2 * rowsTogether * poolScratch(windows.shape());
  }

  /// Several rows are folded before their windows are, which read elements
  /// across the vectors that were written.
  void run(const float *x, float *out) {
    const auto &[depths, rows, columns] = windows.axes;
    size_t count = depths.extents.size() * rows.extents.size();
    for (size_t first = 0; first < count; first += rowsTogether) {
      size_t end = std::min(first + rowsTogether, count);
      for (size_t row = first; row < end; ++row) {
        findOffsets(row);
        poolRows(windows.kind, shape, offsets.size(), offsets.data(), x,
                 held(row));
      }
      for (size_t row = first; row < end; ++row)
        finish(row, out + row * shape.outputs);
    }
  }

private:
  static constexpr size_t rowsTogether = 8;

  double *held(size_t row) const {
    return scratch + row % rowsTogether * poolScratch(shape);
  }
  /// The rows of the result are those of depth after depth.
  const Extent &depthOf(size_t row) const {
    return windows.axes[0].extents[row / windows.axes[1].extents.size()];
  }
  const Extent &rowOf(size_t row) const {
    return windows.axes[1].extents[row % windows.axes[1].extents.size()];
  }

  void findOffsets(size_t row) {
    int64_t height = windows.axes[1].input, width = windows.axes[2].input;
    offsets.clear();
    for (int64_t z = depthOf(row).begin; z < depthOf(row).end; ++z)
      for (int64_t y = rowOf(row).begin; y < rowOf(row).end; ++y)
        offsets.push_back(uint32_t((z * height + y) * width));
  }

  void finish(size_t row, float *out) const {
    auto isEmpty = [](const Extent &extent) {
      return extent.end == extent.begin;
    };
    double count =
        double(windows.counted(depthOf(row)) * windows.counted(rowOf(row)));
    poolWindows(windows.kind, shape, count, held(row), out);
    // Windows outside of the input are 0, as in the reference.
    bool isOutside = isEmpty(depthOf(row)) || isEmpty(rowOf(row));
    if (isOutside || windows.hasEmptyColumns)
      for (size_t i = 0; i < shape.outputs; ++i)
        if (isOutside || isEmpty(windows.axes[2].extents[i]))
          out[i] = 0;
  }

  const Windows &windows;
  PoolShape shape;
  double *scratch;
  std::vector<uint32_t> offsets;
};

} // namespace

/// Pools a channel that one window covers.
static float poolWhole(const Windows &windows, const float *x) {
  bool isMean = !windows.columnCounts.empty();
  if (!isMean)
    return reduceRow(windows.kind, windows.inputs, x, Rounding::None);
  double count = 1;
  for (const Windows::Axis &axis : windows.axes)
    count *= double(windows.counted(axis.extents[0]));
  if (count == double(windows.inputs))
    return reduceRow(Reduce::Mean, windows.inputs, x, Rounding::None);
  double mean, variance;
  moments(windows.inputs, x, &mean, &variance);
  return float(mean * double(windows.inputs) / count);
}

static StepFn makePool(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  if (x->type.numElements() == 0)
    return {};
  auto windows = std::make_shared<Windows>(op);
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  size_t channels = size_t(x->type.shape[0] * x->type.shape[1]);
  Rounding rounding = ctx.rounding(op.result());
  constexpr size_t elements = 8192;
  size_t grain = std::max<size_t>(1, elements / windows->inputs);
  size_t scratchFloats = Pooling::scratchFloats(*windows);
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(
        channels, grain, [&](size_t begin, size_t end, unsigned worker) {
          Pooling pooling(*windows, reinterpret_cast<double *>(
                                        pool.scratch(worker, scratchFloats)));
          for (size_t channel = begin; channel < end; ++channel) {
            const float *from = in + channel * windows->inputs;
            float *to = out + channel * windows->results;
            if (windows->isWhole())
              *to = poolWhole(*windows, from);
            else
              pooling.run(from, to);
          }
          if (rounding == Rounding::FP16)
            roundToHalf((end - begin) * windows->results,
                        out + begin * windows->results,
                        out + begin * windows->results);
        });
  };
}

static constexpr StepRow rows[] = {
    {&ops::AvgPool, makePool},
    {&ops::L2Pool, makePool},
    {&ops::MaxPool, makePool},
};

llvm::ArrayRef<StepRow> cpu::poolSteps() { return rows; }
