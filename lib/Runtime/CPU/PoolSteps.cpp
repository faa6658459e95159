//===- PoolSteps.cpp - pooling --------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A row of results is folded from the rows of the input that its windows
/// cover: first row by row, so that the inner loop is over columns next to each
/// other, then each window's columns.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Pooling.h"
#include "lib/Ops/Rows/Pool.h"
#include "llvm/ADT/STLExtras.h"
#include <array>
#include <cmath>

using namespace anec;
using namespace anec::cpu;

namespace {

enum class Fold : uint8_t { Max, Sum, SumSquare };

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
  size_t inputs = 1, results = 1; ///< of a channel

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

/// How values are held while they are folded: sums in fp64.
template <Fold fold>
using Held = std::conditional_t<fold == Fold::Max, float, double>;

template <Fold fold>
static Held<fold> start() {
  return fold == Fold::Max ? -INFINITY : 0;
}

template <Fold fold>
static Held<fold> folded(Held<fold> sum, Held<fold> value) {
  if (fold == Fold::Max)
    return sum < value || value != value ? value : sum; // NaN stays
  return sum + value;
}

/// Folds a row of the input into a row of sums.
template <Fold fold>
static void foldRow(const float *x, size_t count, Held<fold> *sums) {
  for (size_t i = 0; i < count; ++i) {
    Held<fold> value = x[i];
    sums[i] =
        folded<fold>(sums[i], fold == Fold::SumSquare ? value * value : value);
  }
}

/// Folds the columns of each window: one position of the kernel after another,
/// for all windows in which it is inside of the input.
template <Fold fold>
static void foldColumns(const Windows::Axis &axis, const Held<fold> *columns,
                        Held<fold> *results) {
  auto count = int64_t(axis.extents.size()), stride = axis.stride;
  std::fill_n(results, count, start<fold>());
  for (int64_t k = 0; k < axis.kernel; ++k) {
    int64_t shift = k - axis.before;
    int64_t first = shift < 0 ? (stride - 1 - shift) / stride : 0;
    int64_t last = axis.input - 1 - shift; // of the input, less the shift
    int64_t end = last < 0 ? 0 : std::min(count, last / stride + 1);
    const Held<fold> *from = columns + shift;
    // Constant strides, for which there are vector instructions.
    if (stride == 1)
      for (int64_t i = first; i < end; ++i)
        results[i] = folded<fold>(results[i], from[i]);
    else if (stride == 2)
      for (int64_t i = first; i < end; ++i)
        results[i] = folded<fold>(results[i], from[2 * i]);
    else
      for (int64_t i = first; i < end; ++i)
        results[i] = folded<fold>(results[i], from[stride * i]);
  }
}

/// The reduction that a fold is, where one window covers a channel.
template <Fold fold>
static constexpr Reduce wholeFold = fold == Fold::Max   ? Reduce::Max
                                    : fold == Fold::Sum ? Reduce::Sum
                                                        : Reduce::SumSquare;

/// Computes a channel: the rows of a window first, then its columns.
template <Fold fold, typename Finish>
static void poolChannel(const Windows &windows, const float *x, float *out,
                        Finish finish) {
  const auto &[depths, rows, columns] = windows.axes;
  if (windows.isWhole()) {
    int64_t counted = depths.extents[0].counted * rows.extents[0].counted *
                      columns.extents[0].counted;
    *out = finish(reduceRow(wholeFold<fold>, windows.inputs, x, Rounding::None),
                  int64_t(windows.inputs), counted);
    return;
  }
  std::vector<Held<fold>> sums(size_t(columns.input));
  std::vector<Held<fold>> results(columns.extents.size());
  for (const Extent &depth : depths.extents)
    for (const Extent &row : rows.extents) {
      std::fill(sums.begin(), sums.end(), start<fold>());
      for (int64_t z = depth.begin; z < depth.end; ++z)
        for (int64_t y = row.begin; y < row.end; ++y)
          foldRow<fold>(x + (z * rows.input + y) * columns.input, sums.size(),
                        sums.data());
      int64_t inside = (depth.end - depth.begin) * (row.end - row.begin);
      int64_t counted = depth.counted * row.counted;
      foldColumns<fold>(columns, sums.data(), results.data());
      for (auto [result, column] : llvm::zip_equal(results, columns.extents))
        // Windows outside of the input are 0, as in the reference.
        *out++ = inside == 0 || column.end == column.begin
                     ? 0
                     : finish(result, inside * (column.end - column.begin),
                              counted * column.counted);
    }
}

template <Fold fold, typename Finish>
static StepFn poolBy(const Op &op, StepContext &ctx, Finish finish) {
  auto windows = std::make_shared<Windows>(op);
  const Value *x = op.operand(param::x);
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  size_t channels = size_t(x->type.shape[0] * x->type.shape[1]);
  Rounding rounding = ctx.rounding(op.result());
  constexpr size_t elements = 8192;
  size_t grain = std::max<size_t>(1, elements / windows->inputs);
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(
        channels, grain, [&](size_t begin, size_t end, unsigned) {
          for (size_t channel = begin; channel < end; ++channel)
            poolChannel<fold>(*windows, in + channel * windows->inputs,
                              out + channel * windows->results, finish);
          if (rounding == Rounding::FP16)
            roundToHalf((end - begin) * windows->results,
                        out + begin * windows->results,
                        out + begin * windows->results);
        });
  };
}

static StepFn makePool(const Op &op, StepContext &ctx) {
  if (op.operand(param::x)->type.numElements() == 0)
    return {};
  if (op.is(ops::MaxPool))
    return poolBy<Fold::Max>(
        op, ctx, [](double top, int64_t, int64_t) { return float(top); });
  if (op.is(ops::L2Pool))
    return poolBy<Fold::SumSquare>(op, ctx, [](double sum, int64_t, int64_t) {
      return float(std::sqrt(sum));
    });
  bool excludes = op.get(param::excludePaddingFromAverage);
  return poolBy<Fold::Sum>(
      op, ctx, [excludes](double sum, int64_t inside, int64_t counted) {
        return float(sum / double(excludes ? inside : counted));
      });
}

static constexpr StepRow poolStepsTable[] = {
    {&ops::AvgPool, makePool},
    {&ops::L2Pool, makePool},
    {&ops::MaxPool, makePool},
};

llvm::ArrayRef<StepRow> cpu::poolSteps() { return poolStepsTable; }
