//===- IndexSteps.cpp - gathering and scattering by indices ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An index out of range selects the nearest element, as in the references.
/// Threads share the results of gathers. Of scatters each thread has a part of
/// the targets, and combines what meets there in the order of the updates, so
/// that results do not depend on the threads.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Sequences.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Scatter.h"
#include <algorithm>
#include <cstring>

using namespace anec;
using namespace anec::cpu;

static size_t elementsOf(llvm::ArrayRef<int64_t> shape) {
  return size_t(TensorType(DType::FP32, shape).numElements());
}

static int64_t resolve(int32_t index, int64_t extent) {
  int64_t wrapped = index < 0 ? index + extent : index;
  return std::clamp<int64_t>(wrapped, 0, extent - 1);
}

namespace {

/// A tensor as [outer, extent, inner] around one axis.
struct Along {
  size_t outer, inner;
  int64_t extent;

  Along(llvm::ArrayRef<int64_t> shape, int64_t axis) {
    axis += axis < 0 ? int64_t(shape.size()) : 0;
    outer = elementsOf(shape.take_front(size_t(axis)));
    extent = shape[size_t(axis)];
    inner = elementsOf(shape.drop_front(size_t(axis) + 1));
  }
};

/// Slices of a tensor that rows of indices select.
struct Slices {
  Shape extents;          ///< that indices go along
  size_t batchSlices = 1; ///< of an element of the batch
  size_t rowsOfBatch = 1; ///< rows of indices for it
  size_t rows = 1;        ///< of all
  size_t count = 1;       ///< elements of a slice
  const int32_t *indices;

  Slices(llvm::ArrayRef<int64_t> shape, const Value *rowsOfIndices,
         int64_t batchDims, StepContext &ctx)
      : indices(ctx.storage.ints(rowsOfIndices)) {
    llvm::ArrayRef<int64_t> from = rowsOfIndices->type.shape;
    size_t depth = size_t(from.back()), batch = size_t(batchDims);
    extents.assign(shape.begin() + batch, shape.begin() + batch + depth);
    batchSlices = elementsOf(extents);
    rows = elementsOf(from.drop_back());
    rowsOfBatch = elementsOf(from.drop_back().drop_front(batch));
    count = elementsOf(shape.drop_front(batch + depth));
  }

  /// The number of the slice that a row selects.
  size_t operator()(size_t row) const {
    const int32_t *index = indices + row * extents.size();
    int64_t slice = 0;
    for (size_t axis = 0; axis < extents.size(); ++axis)
      slice = slice * extents[axis] + resolve(index[axis], extents[axis]);
    return row / rowsOfBatch * batchSlices + size_t(slice);
  }
};

} // namespace

static size_t grainOf(size_t elements) {
  return std::max<size_t>(1, 8192 / std::max<size_t>(elements, 1));
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

static StepFn makeGatherAlongAxis(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x), *indices = op.operand(param::indices);
  Along view(x->type.shape, op.get(param::axis));
  size_t count = Along(indices->type.shape, op.get(param::axis)).extent;
  if (view.extent == 0 || indices->type.numElements() == 0)
    return {};
  const uint32_t *from = ctx.storage.words(x);
  const int32_t *numbers = ctx.storage.ints(indices);
  uint32_t *out = ctx.storage.words(op.result());
  if (view.inner == 1) {
    auto gatherLine = [=](size_t line) {
      const uint32_t *block = from + line * size_t(view.extent);
      const int32_t *number = numbers + line * count;
      uint32_t *to = out + line * count;
      auto extent = size_t(view.extent);
      for (size_t i = 0; i < count; ++i) {
        size_t place = uint32_t(number[i]);
        // Most are in range, and this tests both ends at once.
        if (place >= extent)
          place = size_t(resolve(number[i], view.extent));
        to[i] = block[place];
      }
    };
    return [=, &pool = ctx.pool] {
      pool.parallelRanges(view.outer, grainOf(count),
                          [&](size_t begin, size_t end, unsigned) {
                            for (size_t line = begin; line < end; ++line)
                              gatherLine(line);
                          });
    };
  }
  auto gatherRow = [=](size_t row) {
    const uint32_t *block =
        from + row / count * size_t(view.extent) * view.inner;
    const int32_t *number = numbers + row * view.inner;
    uint32_t *to = out + row * view.inner;
    for (size_t i = 0; i < view.inner; ++i)
      to[i] = block[size_t(resolve(number[i], view.extent)) * view.inner + i];
  };
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(view.outer * count, grainOf(view.inner),
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t row = begin; row < end; ++row)
                            gatherRow(row);
                        });
  };
}

static StepFn makeGatherNd(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  if (x->type.numElements() == 0 || op.result()->type.numElements() == 0)
    return {};
  Slices slices(x->type.shape, op.operand(param::indices),
                op.get(param::batchDims), ctx);
  const uint32_t *from = ctx.storage.words(x);
  uint32_t *out = ctx.storage.words(op.result());
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(slices.rows, grainOf(slices.count),
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t row = begin; row < end; ++row)
                            std::memcpy(out + row * slices.count,
                                        from + slices(row) * slices.count,
                                        slices.count * 4);
                        });
  };
}

// The first elements of a sequence come in the opposite order.
static StepFn makeReverseSequence(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  if (x->type.numElements() == 0)
    return {};
  Along sequence(x->type.shape, op.get(param::seqAxis));
  Along batch(x->type.shape, op.get(param::batchAxis));
  // Elements that move together.
  size_t run = std::min(sequence.inner, batch.inner);
  size_t runs = size_t(x->type.numElements()) / run;
  const int32_t *lengths = ctx.storage.ints(op.operand(param::lengths));
  const uint32_t *from = ctx.storage.words(x);
  uint32_t *out = ctx.storage.words(op.result());
  auto moveRun = [=](size_t number) {
    size_t at = number * run;
    auto place = int64_t(at / sequence.inner % size_t(sequence.extent));
    int64_t length = std::clamp<int64_t>(
        lengths[at / batch.inner % size_t(batch.extent)], 0, sequence.extent);
    int64_t other = place < length ? length - 1 - place : place;
    std::memcpy(out + at,
                from + int64_t(at) + (other - place) * int64_t(sequence.inner),
                run * 4);
  };
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(runs, grainOf(run),
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t number = begin; number < end; ++number)
                            moveRun(number);
                        });
  };
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

namespace {
/// The target of a scatter, which begins as a copy of its data and may share
/// the memory.
struct Target {
  const uint32_t *data;
  uint32_t *out;
  size_t elements;
  Rounding rounding; ///< of the final values

  void begin(Executor &pool) const {
    if (data == out)
      return;
    pool.parallelRanges(
        elements, 16384, [&](size_t begin, size_t end, unsigned) {
          std::memcpy(out + begin, data + begin, (end - begin) * 4);
        });
  }
  void finish(Executor &pool) const {
    if (rounding == Rounding::None)
      return;
    auto *floats = reinterpret_cast<float *>(out);
    pool.parallelRanges(
        elements, 16384, [&](size_t begin, size_t end, unsigned) {
          roundToHalf(end - begin, floats + begin, floats + begin);
        });
  }
};
} // namespace

/// Calls `make` with the function that combines an element of the target with
/// an update; nothing for modes of integers that the reference limits to a
/// range.
template <typename Make>
static StepFn withCombination(const Op &op, Make make) {
  ScatterMode mode = op.get(param::scatterMode);
  if (mode != ScatterMode::Update && !isFloat(op.result()->type.dtype))
    return {};
  switch (mode) {
  case ScatterMode::Add:
    return make([](float &to, float update) { to += update; });
  case ScatterMode::Div:
    return make([](float &to, float update) { to /= update; });
  case ScatterMode::Max:
    return make([](float &to, float update) {
      to = to < update || update != update ? update : to;
    });
  case ScatterMode::Min:
    return make([](float &to, float update) {
      to = update < to || update != update ? update : to;
    });
  case ScatterMode::Mul:
    return make([](float &to, float update) { to *= update; });
  case ScatterMode::Sub:
    return make([](float &to, float update) { to -= update; });
  case ScatterMode::Update:
    return make([](float &to, float update) { to = update; });
  }
  llvm_unreachable("a mode without a function");
}

static std::optional<Target> targetOf(const Op &op, StepContext &ctx) {
  const Value *data = op.operand(param::data);
  size_t elements = size_t(data->type.numElements());
  if (elements == 0 || op.operand(param::updates)->type.numElements() == 0)
    return std::nullopt;
  return Target{ctx.storage.words(data), ctx.storage.words(op.result()),
                elements, ctx.rounding(op.result())};
}

/// Combines slices. `select(row)` is the number of the slice that `row` of the
/// updates goes to.
template <typename Select>
static StepFn scatterSlices(const Op &op, StepContext &ctx, size_t rows,
                            size_t count, Select select) {
  std::optional<Target> target = targetOf(op, ctx);
  if (!target)
    return {};
  const float *updates = ctx.storage.floats(op.operand(param::updates));
  auto *out = reinterpret_cast<float *>(target->out);
  size_t slices = target->elements / count;
  auto numbers = std::make_shared<std::vector<size_t>>(rows);
  return withCombination(op, [&](auto combine) {
    return [=, target = *target, &pool = ctx.pool] {
      target.begin(pool);
      pool.parallelRanges(rows, 4096, [&](size_t begin, size_t end, unsigned) {
        for (size_t row = begin; row < end; ++row)
          (*numbers)[row] = select(row);
      });
      // Every task looks at all rows, so there are few.
      size_t tasks = rows * count < 16384 ? 1 : pool.size();
      pool.parallelFor(tasks, [&](size_t task, unsigned) {
        size_t first = slices * task / tasks;
        size_t last = slices * (task + 1) / tasks;
        for (size_t row = 0; row < rows; ++row) {
          size_t slice = (*numbers)[row];
          if (slice < first || slice >= last)
            continue;
          float *to = out + slice * count;
          const float *update = updates + row * count;
          for (size_t i = 0; i < count; ++i)
            combine(to[i], update[i]);
        }
      });
      target.finish(pool);
    };
  });
}

static StepFn makeScatter(const Op &op, StepContext &ctx) {
  Along view(op.operand(param::data)->type.shape, op.get(param::axis));
  const Value *indices = op.operand(param::indices);
  auto count = size_t(indices->type.numElements());
  const int32_t *numbers = ctx.storage.ints(indices);
  return scatterSlices(
      op, ctx, view.outer * count, view.inner, [=](size_t row) {
        return row / count * size_t(view.extent) +
               size_t(resolve(numbers[row % count], view.extent));
      });
}

static StepFn makeScatterNd(const Op &op, StepContext &ctx) {
  Slices slices(op.operand(param::data)->type.shape, op.operand(param::indices),
                /*batchDims=*/0, ctx);
  return scatterSlices(op, ctx, slices.rows, slices.count, slices);
}

// Elements with the same position on the other axes are a line, on which
// updates may meet.
static StepFn makeScatterAlongAxis(const Op &op, StepContext &ctx) {
  const Value *indices = op.operand(param::indices);
  Along view(op.operand(param::data)->type.shape, op.get(param::axis));
  size_t count = Along(indices->type.shape, op.get(param::axis)).extent;
  std::optional<Target> target = targetOf(op, ctx);
  if (!target)
    return {};
  const float *updates = ctx.storage.floats(op.operand(param::updates));
  const int32_t *numbers = ctx.storage.ints(indices);
  auto *out = reinterpret_cast<float *>(target->out);
  return withCombination(op, [&](auto combine) {
    auto scatterLines = [=](size_t outer, size_t begin, size_t end) {
      float *block = out + outer * size_t(view.extent) * view.inner;
      for (size_t i = 0; i < count; ++i) {
        size_t row = (outer * count + i) * view.inner;
        for (size_t at = begin; at < end; ++at) {
          auto place = size_t(resolve(numbers[row + at], view.extent));
          combine(block[place * view.inner + at], updates[row + at]);
        }
      }
    };
    return [=, target = *target, &pool = ctx.pool] {
      target.begin(pool);
      if (view.outer > 1)
        pool.parallelRanges(view.outer, grainOf(count * view.inner),
                            [&](size_t begin, size_t end, unsigned) {
                              for (size_t o = begin; o < end; ++o)
                                scatterLines(o, 0, view.inner);
                            });
      else
        pool.parallelRanges(view.inner, std::max<size_t>(16, grainOf(count)),
                            [&](size_t begin, size_t end, unsigned) {
                              scatterLines(0, begin, end);
                            });
      target.finish(pool);
    };
  });
}

static constexpr StepRow indexStepsTable[] = {
    {&ops::GatherAlongAxis, makeGatherAlongAxis},
    {&ops::GatherNd, makeGatherNd},
    {&ops::ReverseSequence, makeReverseSequence},
    {&ops::Scatter, makeScatter},
    {&ops::ScatterAlongAxis, makeScatterAlongAxis},
    {&ops::ScatterNd, makeScatterNd},
};

llvm::ArrayRef<StepRow> cpu::indexSteps() { return indexStepsTable; }
