//===- RowSteps.cpp - ops along one axis in double precision --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reductions without vector kernels, the places of extremes, sorting and
/// cumulative sums. Threads share the rows, or the columns, of a view.
///
//===----------------------------------------------------------------------===//

#include "AxisView.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Sort.h"
#include "lib/Runtime/Elements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>

using namespace anec;
using namespace anec::cpu;

namespace {

/// The elements of one row or column.
struct Line {
  const float *at;
  size_t count, stride;

  double operator[](size_t i) const { return double(at[i * stride]); }
};

} // namespace

/// Calls `line(index, elements)` for every row or column of `x`; `index` is
/// that of its element in a result without the axis.
template <typename Fn>
static StepFn eachLine(const Value *x, const AxisView &view, StepContext &ctx,
                       Fn line) {
  const float *in = ctx.storage.floats(x);
  return [=, &pool = ctx.pool] {
    splitWork(
        pool, view,
        [&](size_t begin, size_t end) {
          for (size_t row = begin; row < end; ++row)
            line(row, Line{in + row * view.axis, view.axis, 1});
        },
        [&](size_t outer, size_t begin, size_t end) {
          for (size_t column = begin; column < end; ++column)
            line(outer * view.inner + column,
                 Line{in + outer * view.axis * view.inner + column, view.axis,
                      view.inner});
        });
  };
}

/// The view of a float operand along `axes`; nothing for other operands, and
/// for axes that are not adjacent.
static std::optional<AxisView> viewOf(const Value *x,
                                      llvm::ArrayRef<int64_t> axes) {
  if (!isFloat(x->type.dtype) || x->type.numElements() == 0)
    return std::nullopt;
  return viewAxes(x->type.shape, axes);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// log(sum exp(x)) = top + log(sum exp(x - top)), which does not overflow, of
/// columns next to each other; a row is a column of one. As in the reference,
/// top is 0 where the maximum is infinite or NaN.
static void logSumExpColumns(const AxisView &view, size_t columns,
                             const float *x, DType stored, uint32_t *out,
                             float *scratch) {
  float *tops = scratch, *powers = scratch + columns;
  reduceColumns(Reduce::Max, {view.axis, columns, view.inner, x}, tops,
                Rounding::None);
  std::replace_if(
      tops, tops + columns, [](float top) { return !std::isfinite(top); },
      0.0f);
  std::vector<double> sums(columns);
  for (size_t row = 0; row < view.axis; ++row, x += view.inner) {
    binary(Binary::Sub, columns, x, 1, tops, 1, powers, Rounding::None);
    unary(Unary::Exp, columns, powers, powers, Rounding::None);
    for (size_t j = 0; j < columns; ++j)
      sums[j] += double(powers[j]);
  }
  for (size_t j = 0; j < columns; ++j)
    sums[j] = double(tops[j]) + std::log(sums[j]);
  storeDoubles(stored, sums, out);
}

static double logSumExpRow(size_t count, const float *x, float *powers) {
  float top = reduceRow(Reduce::Max, count, x, Rounding::None);
  top = std::isfinite(top) ? top : 0;
  double sum = 0;
  // Whole cache lines at a time, so that scratch memory stays small.
  constexpr size_t part = 4096;
  for (size_t i = 0; i < count; i += part) {
    size_t length = std::min(part, count - i);
    binary(Binary::Sub, length, x + i, 1, &top, 0, powers, Rounding::None);
    unary(Unary::Exp, length, powers, powers, Rounding::None);
    sum += double(reduceRow(Reduce::Sum, length, powers, Rounding::None));
  }
  return double(top) + std::log(sum);
}

static StepFn makeLogSumExp(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(0u);
  std::optional<AxisView> view = viewOf(x, op.get(param::axes));
  if (!view)
    return {};
  DType stored = storedType(op.result()->type.dtype, ctx.rounding(op.result()));
  const float *in = ctx.storage.floats(x);
  uint32_t *out = ctx.storage.words(op.result());
  return [=, view = *view, &pool = ctx.pool] {
    splitWork(
        pool, view,
        [&](size_t begin, size_t end) {
          float *scratch = pool.scratch(pool.currentWorker(), 4096);
          for (size_t row = begin; row < end; ++row)
            storeDoubles(stored,
                         logSumExpRow(view.axis, in + row * view.axis, scratch),
                         out + row);
        },
        [&](size_t outer, size_t begin, size_t end) {
          // Columns whose sums stay in the first-level cache.
          constexpr size_t most = 512;
          float *scratch = pool.scratch(pool.currentWorker(), 2 * most);
          for (size_t column = begin; column < end; column += most)
            logSumExpColumns(view, std::min(most, end - column),
                             in + outer * view.axis * view.inner + column,
                             stored, out + outer * view.inner + column,
                             scratch);
        });
  };
}

// The first of the largest or smallest elements.
static StepFn makeExtremePlace(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(0u);
  std::optional<AxisView> view = viewOf(x, op.get(param::axis));
  if (!view || double(view->axis - 1) > highest(op.result()->type.dtype))
    return {};
  bool isMax = op.is(ops::ReduceArgmax);
  int32_t *out = ctx.storage.ints(op.result());
  if (view->inner > 1) {
    const float *in = ctx.storage.floats(x);
    return [=, view = *view, &pool = ctx.pool] {
      splitWork(
          pool, view, [](size_t, size_t) {},
          [&](size_t outer, size_t begin, size_t end) {
            extremePlaces(isMax,
                          {view.axis, end - begin, view.inner,
                           in + outer * view.axis * view.inner + begin},
                          out + outer * view.inner + begin);
          });
    };
  }
  Reduce kind = isMax ? Reduce::Max : Reduce::Min;
  return eachLine(x, *view, ctx, [=](size_t index, const Line &line) {
    // NaN, which is equal to nothing, is the extreme if there is one.
    float best = reduceRow(kind, line.count, line.at, Rounding::None);
    size_t place = 0;
    while (line.at[place] != best && line.at[place] == line.at[place])
      ++place;
    out[index] = int32_t(place);
  });
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// An element and its place as a word. Words have the order of sorting: NaN
/// comes last, and equal elements, such as both zeros, are ordered by their
/// place.
static uint64_t sortWord(float x, size_t place, bool ascending) {
  auto bits = llvm::bit_cast<uint32_t>(x + 0.0f);
  uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  uint32_t key = ascending ? rising : ~rising;
  return uint64_t(x == x ? key : UINT32_MAX) << 32 | place;
}

/// The words of the first `most` elements in sorted order.
static void sortFirst(const Line &line, size_t most, bool ascending,
                      std::vector<uint64_t> &words) {
  auto word = [&](size_t i) {
    return sortWord(line.at[i * line.stride], i, ascending);
  };
  // Few of many are kept in a heap, whose last one most elements come after.
  bool isHeap = most <= line.count / 16;
  size_t first = isHeap ? most : line.count;
  words.resize(first);
  for (size_t i = 0; i < first; ++i)
    words[i] = word(i);
  if (isHeap && most > 0) {
    std::make_heap(words.begin(), words.end());
    auto offer = [&](size_t i) {
      if (uint64_t next = word(i); next < words.front()) {
        std::pop_heap(words.begin(), words.end());
        words.back() = next;
        std::push_heap(words.begin(), words.end());
      }
    };
    for (size_t i = first; i < line.count; ++i) {
      // Most elements come after the last one of the heap.
      if (line.stride == 1)
        i += firstBefore(line.count - i, line.at + i,
                         line.at[uint32_t(words.front())], ascending);
      if (i < line.count)
        offer(i);
    }
  } else if (most < line.count) {
    std::nth_element(words.begin(), words.begin() + most, words.end());
  }
  std::sort(words.begin(), words.begin() + most);
}

static StepFn makeSort(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  std::optional<AxisView> view = viewOf(x, op.get(param::axis));
  if (!view)
    return {};
  bool isTopk = op.is(ops::Topk), ascending = op.get(param::ascending);
  size_t most = isTopk ? size_t(op.get(param::topK)) : view->axis;
  float *values = isTopk ? ctx.storage.floats(op.result(0)) : nullptr;
  const Value *indices =
      isTopk ? op.numResults() > 1 ? op.result(1) : nullptr : op.result(0);
  // Indices that their type cannot hold are limited by the reference.
  if (indices && double(view->axis - 1) > highest(indices->type.dtype))
    return {};
  int32_t *places = indices ? ctx.storage.ints(indices) : nullptr;
  size_t inner = view->inner;
  return eachLine(x, *view, ctx, [=](size_t index, const Line &line) {
    std::vector<uint64_t> words;
    sortFirst(line, most, ascending, words);
    size_t at = index / inner * most * inner + index % inner;
    for (size_t i = 0; i < most; ++i, at += inner) {
      auto place = uint32_t(words[i]);
      if (values)
        values[at] = line.at[place * line.stride];
      if (places)
        places[at] = int32_t(place);
    }
  });
}

namespace {

/// Sums along an axis, in double precision.
struct Cumulative {
  size_t axis, inner;
  bool exclusive, reverse;
  Rounding rounding;

  size_t place(size_t number) const {
    return reverse ? axis - 1 - number : number;
  }
  void row(const float *x, float *out) const {
    double sum = 0;
    for (size_t number = 0; number < axis; ++number) {
      size_t i = place(number);
      double before = sum;
      sum += double(x[i]);
      out[i] = float(exclusive ? before : sum);
    }
    if (rounding == Rounding::FP16)
      roundToHalf(axis, out, out);
  }
  /// Of `count` columns next to each other.
  void columns(size_t count, const float *x, float *out) const {
    sumsSoFar({axis, count, inner, x}, exclusive, reverse, out, rounding);
  }
};

} // namespace

static StepFn makeCumsum(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  std::optional<AxisView> view = viewOf(x, op.get(param::axis));
  if (!view)
    return {};
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  Cumulative sums{view->axis, view->inner, op.get(param::exclusive),
                  op.get(param::reverse), ctx.rounding(op.result())};
  return [=, view = *view, &pool = ctx.pool] {
    splitWork(
        pool, view,
        [&](size_t begin, size_t end) {
          for (size_t row = begin; row < end; ++row)
            sums.row(in + row * view.axis, out + row * view.axis);
        },
        [&](size_t outer, size_t begin, size_t end) {
          size_t at = outer * view.axis * view.inner + begin;
          sums.columns(end - begin, in + at, out + at);
        });
  };
}

static constexpr StepRow rowStepsTable[] = {
    {&ops::Argsort, makeSort},
    {&ops::Cumsum, makeCumsum},
    {&ops::ReduceArgmax, makeExtremePlace},
    {&ops::ReduceArgmin, makeExtremePlace},
    {&ops::ReduceLogSumExp, makeLogSumExp},
    {&ops::Topk, makeSort},
};

llvm::ArrayRef<StepRow> cpu::rowSteps() { return rowStepsTable; }
