//===- PoolSteps.cpp - pooling --------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A row of results is folded from the rows of the input that its windows
/// cover, one position of the kernel at a time, so that the inner loop is over
/// results next to each other.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "anec/Ops/Pooling.h"
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
    int64_t input = 1, stride = 1;
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
};

} // namespace

template <Fold fold>
static double start() {
  return fold == Fold::Max ? -INFINITY : 0.0;
}

/// Folds the elements of a window's row into `sum`.
template <Fold fold>
static double foldRow(double sum, const float *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    double value = x[i];
    if (fold == Fold::Max)
      sum = value > sum ? value : sum; // ignores NaN, as the reference does
    else
      sum += fold == Fold::Sum ? value : value * value;
  }
  return sum;
}

/// Computes a channel.
template <Fold fold, typename Finish>
static void poolChannel(const Windows &windows, const float *x, float *out,
                        Finish finish) {
  const auto &[depths, rows, columns] = windows.axes;
  std::vector<double> sums(columns.extents.size());
  for (const Extent &depth : depths.extents)
    for (const Extent &row : rows.extents) {
      std::fill(sums.begin(), sums.end(), start<fold>());
      for (int64_t z = depth.begin; z < depth.end; ++z)
        for (int64_t y = row.begin; y < row.end; ++y) {
          const float *line = x + (z * rows.input + y) * columns.input;
          for (auto [sum, column] : llvm::zip_equal(sums, columns.extents))
            sum = foldRow<fold>(sum, line + column.begin,
                                column.end - column.begin);
        }
      int64_t inside = (depth.end - depth.begin) * (row.end - row.begin);
      int64_t counted = depth.counted * row.counted;
      for (auto [sum, column] : llvm::zip_equal(sums, columns.extents))
        *out++ = finish(sum, inside * (column.end - column.begin),
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

StepFn cpu::makePool(const Op &op, StepContext &ctx) {
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
