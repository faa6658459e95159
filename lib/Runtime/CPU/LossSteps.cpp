//===- LossSteps.cpp - cross-entropy and its gradient ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Logits are [classes, count], with a column for each target, or several such
/// images in a batch, whose columns count together. Some rows at a
/// time stay in the cache while their largest elements and the sums of their
/// exponentials are found; the results of the parts are combined in fp64.
/// The exponential of the target is left out of a sum and added last: 1 - p of
/// a target with a probability p of nearly 1 would be lost in the rounding.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/Ops/Params/Loss.h"
#include "lib/Ops/Rows/Loss.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <memory>

using namespace anec;
using namespace anec::cpu;

namespace {

struct Loss {
  size_t classes, count;
  const float *logits;
  const int32_t *targets;

  bool counts(size_t column) const {
    return targets[column] >= 0 && size_t(targets[column]) < classes;
  }
  size_t counted() const {
    size_t used = 0;
    for (size_t column = 0; column < count; ++column)
      used += counts(column);
    return used;
  }
};

constexpr size_t rowsOfPart = 64;

/// The memory of a step, so that running it allocates nothing: for each column
/// its largest element, the exponential of the target's distance from it, and
/// the sum of the others'; largest elements and sums also for each part of the
/// rows.
struct ColumnSums {
  explicit ColumnSums(const Loss &loss)
      : parts((loss.classes + rowsOfPart - 1) / rowsOfPart),
        partTops(parts * loss.count), partSums(parts * loss.count),
        top(loss.count), scale(loss.count), target(loss.count),
        others(loss.count) {
    byTarget.reserve(loss.count);
  }
  double sum(size_t column) const { return target[column] + others[column]; }

  size_t parts;
  std::vector<float> partTops, partSums;
  std::vector<float> top, scale;
  std::vector<double> target, others;
  std::vector<size_t> byTarget; ///< the columns that count, by their targets
};

} // namespace

/// The images of a batch, one after the other.
static std::vector<Loss> imagesOf(const Shape &shape, const float *logits,
                                  const int32_t *targets) {
  size_t batch = shape.size() == 3 ? size_t(shape[0]) : 1;
  size_t classes = size_t(shape[shape.size() - 2]),
         count = size_t(shape.back());
  std::vector<Loss> images;
  for (size_t image = 0; image < batch; ++image)
    images.push_back({classes, count, logits + image * classes * count,
                      targets + image * count});
  return images;
}

static size_t countedOf(const std::vector<Loss> &images) {
  size_t used = 0;
  for (const Loss &loss : images)
    used += loss.counted();
  return used;
}

/// The largest elements of rows [begin, end) and the sums without targets, both
/// [count], with a row of scratch.
static void sumPart(const Loss &loss, llvm::ArrayRef<size_t> byTarget,
                    size_t begin, size_t end, float *top, float *sum,
                    float *row) {
  size_t count = loss.count;
  const size_t *next = llvm::partition_point(byTarget, [&](size_t column) {
    return size_t(loss.targets[column]) < begin;
  });
  reduceColumns(Reduce::Max,
                {end - begin, count, count, loss.logits + begin * count}, top,
                Rounding::None);
  std::fill_n(sum, count, 0.0f);
  for (size_t c = begin; c < end; ++c) {
    binary(Binary::Sub, count, loss.logits + c * count, 1, top, 1, row,
           Rounding::None);
    unary(Unary::Exp, count, row, row, Rounding::None);
    for (; next != byTarget.end() && size_t(loss.targets[*next]) == c; ++next)
      row[*next] = 0;
    binary(Binary::Add, count, sum, 1, row, 1, sum, Rounding::None);
  }
}

static void sumColumns(const Loss &loss, ColumnSums &sums, Executor &pool) {
  size_t count = loss.count;
  sums.byTarget.clear();
  for (size_t column = 0; column < count; ++column)
    if (loss.counts(column))
      sums.byTarget.push_back(column);
  llvm::sort(sums.byTarget, [&](size_t lhs, size_t rhs) {
    return loss.targets[lhs] < loss.targets[rhs];
  });
  pool.parallelRanges(
      sums.parts, 1, [&](size_t begin, size_t end, unsigned worker) {
        float *row = pool.scratch(worker, count);
        for (size_t part = begin; part < end; ++part)
          sumPart(loss, sums.byTarget, part * rowsOfPart,
                  std::min((part + 1) * rowsOfPart, loss.classes),
                  &sums.partTops[part * count], &sums.partSums[part * count],
                  row);
      });
  std::fill(sums.top.begin(), sums.top.end(), -INFINITY);
  std::fill(sums.others.begin(), sums.others.end(), 0.0);
  std::fill(sums.target.begin(), sums.target.end(), 0.0);
  for (size_t part = 0; part < sums.parts; ++part)
    for (size_t column = 0; column < count; ++column)
      sums.top[column] =
          std::fmax(sums.top[column], sums.partTops[part * count + column]);
  for (size_t part = 0; part < sums.parts; ++part)
    for (size_t column = 0; column < count; ++column)
      sums.others[column] +=
          double(sums.partSums[part * count + column]) *
          std::exp(double(sums.partTops[part * count + column]) -
                   double(sums.top[column]));
  for (size_t column : sums.byTarget)
    sums.target[column] = std::exp(
        double(loss.logits[size_t(loss.targets[column]) * count + column]) -
        double(sums.top[column]));
}

/// The sum of the losses of the columns that count.
static double totalLoss(const Loss &loss, ColumnSums &sums, Executor &pool) {
  sumColumns(loss, sums, pool);
  double total = 0;
  for (size_t column = 0; column < loss.count; ++column) {
    if (!loss.counts(column))
      continue;
    if (sums.others[column] < sums.target[column]) {
      total += std::log1p(sums.others[column] / sums.target[column]);
      continue;
    }
    size_t target = size_t(loss.targets[column]);
    double logit = loss.logits[target * loss.count + column];
    total += std::log(sums.sum(column)) - (logit - sums.top[column]);
  }
  return total;
}

static StepFn makeCrossEntropy(const Op &op, StepContext &ctx) {
  const Value *logits = op.operand(param::logits);
  std::vector<Loss> images =
      imagesOf(logits->type.shape, ctx.storage.floats(logits),
               ctx.storage.ints(op.operand(param::targets)));
  float *out = ctx.storage.floats(op.result());
  auto memory = std::make_shared<ColumnSums>(images[0]);
  return [=, &pool = ctx.pool] {
    double total = 0;
    for (const Loss &loss : images)
      total += totalLoss(loss, *memory, pool);
    size_t used = countedOf(images);
    *out = used ? float(total / double(used)) : 0.0f;
  };
}

// factor (exp(x - top) / sum - 1 at the target), factor = dy / (number of
// columns that count); 0 for a column that does not count.
static void writeGradient(const Loss &loss, ColumnSums &sums, double factor,
                          float *out, Rounding rounding, Executor &pool) {
  sumColumns(loss, sums, pool);
  size_t count = loss.count;
  for (size_t column = 0; column < count; ++column)
    sums.scale[column] =
        loss.counts(column) ? float(factor / sums.sum(column)) : 0.0f;
  pool.parallelRanges(loss.classes, rowsOfPart,
                      [&](size_t begin, size_t end, unsigned) {
                        for (size_t c = begin; c < end; ++c) {
                          float *row = out + c * count;
                          binary(Binary::Sub, count, loss.logits + c * count, 1,
                                 sums.top.data(), 1, row, Rounding::None);
                          unary(Unary::Exp, count, row, row, Rounding::None);
                          binary(Binary::Mul, count, row, 1, sums.scale.data(),
                                 1, row, rounding);
                        }
                      });
  for (size_t column : sums.byTarget) {
    size_t at = size_t(loss.targets[column]) * count + column;
    float element = float(-factor * (sums.others[column] / sums.sum(column)));
    unary(Unary::Copy, 1, &element, out + at, rounding);
  }
}

static StepFn makeCrossEntropyGradient(const Op &op, StepContext &ctx) {
  const Value *logits = op.operand(param::logits);
  std::vector<Loss> images =
      imagesOf(logits->type.shape, ctx.storage.floats(logits),
               ctx.storage.ints(op.operand(param::targets)));
  const float *dy = ctx.storage.floats(op.operand(param::dy));
  float *out = ctx.storage.floats(op.result());
  Rounding rounding = ctx.rounding(op.result());
  auto memory = std::make_shared<ColumnSums>(images[0]);
  return [=, &pool = ctx.pool] {
    double factor =
        double(*dy) / double(std::max<size_t>(countedOf(images), 1));
    float *to = out;
    for (const Loss &loss : images) {
      writeGradient(loss, *memory, factor, to, rounding, pool);
      to += loss.classes * loss.count;
    }
  };
}

static constexpr StepRow lossStepsTable[] = {
    {&ops::CrossEntropy, makeCrossEntropy},
    {&ops::CrossEntropyGradient, makeCrossEntropyGradient},
};

llvm::ArrayRef<StepRow> cpu::lossSteps() { return lossStepsTable; }
