//===- MovementSteps.cpp - ops that only move elements --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Elements of all types have four bytes, so one strided copy serves all ops.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Fill.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Slices.h"
#include "lib/Runtime/Elements.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace anec;
using namespace anec::cpu;

namespace {

/// A copy between two strided arrays of one shape. Strides are in elements and
/// may be 0 or negative for the source.
struct StridedCopy {
  Shape shape, from, to;
  const uint32_t *source = nullptr;
  uint32_t *target = nullptr;
};

} // namespace

/// Drops axes of one element and joins axes that are contiguous in both arrays.
static void simplify(StridedCopy &copy) {
  Shape shape, from, to;
  for (size_t axis = 0; axis < copy.shape.size(); ++axis) {
    int64_t extent = copy.shape[axis];
    if (extent == 1)
      continue;
    if (!shape.empty() && from.back() == copy.from[axis] * extent &&
        to.back() == copy.to[axis] * extent) {
      shape.back() *= extent;
      from.back() = copy.from[axis];
      to.back() = copy.to[axis];
      continue;
    }
    shape.push_back(extent);
    from.push_back(copy.from[axis]);
    to.push_back(copy.to[axis]);
  }
  if (shape.empty()) {
    shape = {1};
    from = to = {1};
  }
  copy.shape = shape;
  copy.from = from;
  copy.to = to;
}

/// Makes the axis along which the source is contiguous the last but one, when
/// it is not the last: planes are transposed then, and their order does not
/// matter.
static void findPlanes(StridedCopy &copy) {
  size_t rank = copy.shape.size();
  if (rank < 3 || copy.from.back() == 1)
    return;
  const auto *contiguous = llvm::find(copy.from, 1);
  if (contiguous == copy.from.end())
    return;
  auto axis = size_t(contiguous - copy.from.begin());
  for (Shape *each : {&copy.shape, &copy.from, &copy.to})
    std::rotate(each->begin() + axis, each->begin() + axis + 1,
                each->end() - 1);
}

/// Copies a [rows, columns] plane in blocks, so that neither side's cache lines
/// are fetched more than once.
static void copyPlane(const uint32_t *source, int64_t fromRow,
                      int64_t fromColumn, uint32_t *target, int64_t toRow,
                      int64_t toColumn, int64_t rows, int64_t columns) {
  if (fromColumn == 1 && toColumn == 1) {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(target + row * toRow, source + row * fromRow,
                  size_t(columns) * 4);
    return;
  }
  auto turned = [](int64_t rows, int64_t columns, const uint32_t *from,
                   int64_t fromStride, uint32_t *to, int64_t toStride) {
    transpose(size_t(rows), size_t(columns),
              reinterpret_cast<const float *>(from), size_t(fromStride),
              reinterpret_cast<float *>(to), size_t(toStride));
  };
  // Narrower planes would turn blocks that are mostly empty.
  constexpr int64_t leastSide = 8;
  bool isNarrow = std::min(rows, columns) < leastSide;
  if (!isNarrow && fromRow == 1 && toColumn == 1 && fromColumn > 0 && toRow > 0)
    return turned(rows, columns, source, fromColumn, target, toRow);
  if (!isNarrow && fromColumn == 1 && toRow == 1 && fromRow > 0 && toColumn > 0)
    return turned(columns, rows, source, fromRow, target, toColumn);
  constexpr int64_t block = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += block)
    for (int64_t c0 = 0; c0 < columns; c0 += block)
      for (int64_t r = r0; r < std::min(r0 + block, rows); ++r)
        for (int64_t c = c0; c < std::min(c0 + block, columns); ++c)
          target[r * toRow + c * toColumn] =
              source[r * fromRow + c * fromColumn];
}

static void runCopy(const StridedCopy &copy, Executor &pool) {
  size_t rank = copy.shape.size();
  int64_t columns = copy.shape[rank - 1];
  int64_t rows = rank > 1 ? copy.shape[rank - 2] : 1;
  size_t planes = 1;
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    planes *= size_t(copy.shape[axis]);
  auto copyPart = [&](size_t plane, int64_t begin, int64_t end) {
    int64_t from = 0, to = 0, rest = int64_t(plane);
    for (size_t axis = rank > 2 ? rank - 2 : 0; axis-- > 0;) {
      from += rest % copy.shape[axis] * copy.from[axis];
      to += rest % copy.shape[axis] * copy.to[axis];
      rest /= copy.shape[axis];
    }
    int64_t fromRow = rank > 1 ? copy.from[rank - 2] : 0;
    int64_t toRow = rank > 1 ? copy.to[rank - 2] : 0;
    copyPlane(copy.source + from + begin * fromRow, fromRow,
              copy.from[rank - 1], copy.target + to + begin * toRow, toRow,
              copy.to[rank - 1], end - begin, columns);
  };
  size_t planeElements = size_t(rows * columns);
  constexpr size_t grainElements = 16384;
  if (planes > 1) {
    size_t grain =
        std::max<size_t>(1, grainElements / std::max<size_t>(planeElements, 1));
    pool.parallelRanges(planes, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t plane = begin; plane < end; ++plane)
        copyPart(plane, 0, rows);
    });
    return;
  }
  size_t grain = std::max<size_t>(16, grainElements /
                                          std::max<size_t>(size_t(columns), 1));
  pool.parallelRanges(size_t(rows), grain,
                      [&](size_t begin, size_t end, unsigned) {
                        copyPart(0, int64_t(begin), int64_t(end));
                      });
}

static StepFn makeCopies(llvm::SmallVector<StridedCopy, 1> copies,
                         StepContext &ctx) {
  llvm::erase_if(copies, [](const StridedCopy &copy) {
    return TensorType(DType::FP32, copy.shape).numElements() == 0;
  });
  for (StridedCopy &copy : copies) {
    simplify(copy);
    findPlanes(copy);
  }
  return [copies = std::move(copies), &pool = ctx.pool] {
    for (const StridedCopy &copy : copies)
      runCopy(copy, pool);
  };
}

/// A copy of all elements of a value to another.
static StepFn makeCopy(const Value *from, const Value *to, StepContext &ctx) {
  const uint32_t *source = ctx.storage.words(from);
  uint32_t *target = ctx.storage.words(to);
  size_t count = size_t(to->type.numElements());
  Executor *pool = &ctx.pool;
  return [=] {
    pool->parallelRanges(count, 16384, [&](size_t begin, size_t end, unsigned) {
      std::memcpy(target + begin, source + begin, (end - begin) * 4);
    });
  };
}

/// A copy that fills `result`.
static StridedCopy copyInto(const Value *result, StepContext &ctx) {
  StridedCopy copy;
  copy.shape = result->type.shape;
  copy.to = rowMajorStrides(copy.shape);
  copy.target = ctx.storage.words(result);
  return copy;
}

static StepFn makeTranspose(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(0u);
  StridedCopy copy = copyInto(op.result(), ctx);
  copy.source = ctx.storage.words(x);
  Shape strides = rowMajorStrides(x->type.shape);
  for (int64_t axis : op.get(param::perm))
    copy.from.push_back(strides[axis < 0 ? axis + x->type.rank() : axis]);
  return makeCopies({copy}, ctx);
}

namespace {
/// Where a slice of `counts` elements begins in an array of `shape`: at the
/// positions in `constant`, or at those in memory when the step runs.
struct SliceOrigin {
  Shape shape, counts, constant;
  const int32_t *computed = nullptr;

  int64_t offset() const {
    Shape strides = rowMajorStrides(shape);
    int64_t sum = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      int64_t begin = computed ? computed[axis] : constant[axis];
      begin += begin < 0 ? shape[axis] : 0;
      // A slice that reaches outside is moved inside, as in the op's reference.
      begin = std::clamp<int64_t>(begin, 0, shape[axis] - counts[axis]);
      sum += begin * strides[axis];
    }
    return sum;
  }
};
} // namespace

static SliceOrigin originOf(const Op &op, Shape counts, StepContext &ctx) {
  SliceOrigin origin;
  origin.shape = op.operand(param::x)->type.shape;
  origin.counts = std::move(counts);
  if (op.constant(param::begin))
    origin.constant = op.get(param::begin);
  else
    origin.computed = ctx.storage.ints(op.operand(param::beginValue));
  return origin;
}

static StepFn makeSliceBySize(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  StridedCopy copy = copyInto(op.result(), ctx);
  copy.from = rowMajorStrides(x->type.shape);
  copy.source = ctx.storage.words(x);
  SliceOrigin origin = originOf(op, copy.shape, ctx);
  simplify(copy);
  return [copy, origin, &pool = ctx.pool] {
    StridedCopy moved = copy;
    moved.source += origin.offset();
    runCopy(moved, pool);
  };
}

static StepFn makeSliceByIndex(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  Selection selection = selectElements(op, x->type.shape);
  StridedCopy copy = copyInto(op.result(), ctx);
  copy.from = selection.strides;
  copy.source = ctx.storage.words(x) + selection.first;
  return makeCopies({copy}, ctx);
}

// Fills the result, and copies `x` into it.
static StepFn makePad(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x), *result = op.result();
  if (op.get(param::padMode) != PadMode::Constant)
    return {};
  Shape pad = op.get(param::pad);
  StridedCopy copy;
  copy.shape = x->type.shape;
  copy.from = rowMajorStrides(copy.shape);
  copy.to = rowMajorStrides(result->type.shape);
  copy.source = ctx.storage.words(x);
  copy.target = ctx.storage.words(result);
  size_t first = copy.shape.size() - pad.size() / 2;
  for (size_t axis = first; axis < copy.shape.size(); ++axis)
    copy.target += pad[2 * (axis - first)] * copy.to[axis];
  double constant = op.get(param::constantVal);
  uint32_t filler;
  storeDoubles(storedType(result->type.dtype, ctx.rounding(result)), constant,
               &filler);
  uint32_t *out = ctx.storage.words(result);
  size_t count = size_t(result->type.numElements());
  StepFn copyX = makeCopies({copy}, ctx);
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(count, 16384, [&](size_t begin, size_t end, unsigned) {
      std::fill(out + begin, out + end, filler);
    });
    copyX();
  };
}

// Each axis is a repetition, which does not move in `x`, and a position.
static StepFn makeTile(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  Shape reps = op.get(param::reps), strides = rowMajorStrides(x->type.shape);
  StridedCopy copy;
  for (unsigned axis = 0; axis < x->type.rank(); ++axis) {
    copy.shape.append({reps[axis], x->type.shape[axis]});
    copy.from.append({0, strides[axis]});
  }
  copy.to = rowMajorStrides(copy.shape);
  copy.source = ctx.storage.words(x);
  copy.target = ctx.storage.words(op.result());
  return makeCopies({copy}, ctx);
}

static StepFn makeReverse(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  StridedCopy copy = copyInto(op.result(), ctx);
  copy.from = copy.to;
  copy.source = ctx.storage.words(x);
  for (int64_t axis : op.get(param::axes)) {
    axis += axis < 0 ? int64_t(x->type.rank()) : 0;
    copy.source += (copy.shape[axis] - 1) * copy.to[axis];
    copy.from[axis] = -copy.to[axis];
  }
  return makeCopies({copy}, ctx);
}

static StepFn makeStack(const Op &op, StepContext &ctx) {
  const Value *result = op.result();
  int64_t axis = op.get(param::axis);
  axis += axis < 0 ? int64_t(result->type.rank()) : 0;
  Shape strides = rowMajorStrides(result->type.shape);
  int64_t step = strides[axis];
  strides.erase(strides.begin() + axis);
  llvm::SmallVector<StridedCopy, 1> copies;
  for (auto [index, operand] : llvm::enumerate(op.operandValues())) {
    StridedCopy copy;
    copy.shape = operand->type.shape;
    copy.from = rowMajorStrides(copy.shape);
    copy.to = strides;
    copy.source = ctx.storage.words(operand);
    copy.target = ctx.storage.words(result) + int64_t(index) * step;
    copies.push_back(copy);
  }
  return makeCopies(std::move(copies), ctx);
}

// Copies `x`, and the update into the copy. A masked begin is 0, and a dropped
// axis has one element.
static StepFn makeSliceUpdate(const Op &op, StepContext &ctx) {
  const Constant *strides = op.constant(param::stride);
  if (strides && llvm::any_of(strides->asInts(),
                              [](int64_t stride) { return stride != 1; }))
    return {};
  const Value *x = op.operand(param::x), *update = op.operand(param::update);
  unsigned rank = x->type.rank();
  auto mask = [&](const BoolsParam &name) {
    return op.constant(name) ? op.get(name) : Shape(rank, 0);
  };
  Shape squeezed = mask(param::squeezeMask), counts(rank, 1);
  StridedCopy copy;
  Shape all = rowMajorStrides(x->type.shape);
  copy.shape = update->type.shape;
  copy.from = rowMajorStrides(copy.shape);
  for (unsigned axis = 0; axis < rank; ++axis)
    if (!squeezed[axis]) {
      counts[axis] = copy.shape[copy.to.size()];
      copy.to.push_back(all[axis]);
    }
  copy.source = ctx.storage.words(update);
  copy.target = ctx.storage.words(op.result());
  simplify(copy);
  SliceOrigin origin = originOf(op, counts, ctx);
  Shape fromStart = mask(param::beginMask);
  for (unsigned axis = 0; axis < rank; ++axis)
    if (fromStart[axis] && origin.computed)
      origin.counts[axis] = origin.shape[axis]; // leaves only 0
    else if (fromStart[axis])
      origin.constant[axis] = 0;
  bool isInPlace = ctx.storage.words(x) == ctx.storage.words(op.result());
  StepFn copyX = isInPlace ? nullptr : makeCopy(x, op.result(), ctx);
  return [copyX, copy, origin, &pool = ctx.pool] {
    if (copyX)
      copyX();
    StridedCopy moved = copy;
    moved.target += origin.offset();
    runCopy(moved, pool);
  };
}

static StepFn makeConcat(const Op &op, StepContext &ctx) {
  if (op.get(param::interleave))
    return {};
  const Value *result = op.result();
  int64_t axis = op.get(param::axis);
  axis += axis < 0 ? int64_t(result->type.rank()) : 0;
  Shape strides = rowMajorStrides(result->type.shape);
  llvm::SmallVector<StridedCopy, 1> copies;
  int64_t offset = 0;
  for (const Value *operand : op.operandValues()) {
    StridedCopy copy;
    copy.shape = operand->type.shape;
    copy.from = rowMajorStrides(copy.shape);
    copy.to = strides;
    copy.source = ctx.storage.words(operand);
    copy.target = ctx.storage.words(result) + offset * strides[axis];
    offset += copy.shape[axis];
    copies.push_back(copy);
  }
  return makeCopies(std::move(copies), ctx);
}

static StepFn makeSplit(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(0u);
  int64_t axis = op.get(param::axis);
  axis += axis < 0 ? int64_t(x->type.rank()) : 0;
  Shape strides = rowMajorStrides(x->type.shape);
  llvm::SmallVector<StridedCopy, 1> copies;
  int64_t offset = 0;
  for (const Value *result : op.resultValues()) {
    StridedCopy copy = copyInto(result, ctx);
    copy.from = strides;
    copy.source = ctx.storage.words(x) + offset * strides[axis];
    offset += copy.shape[axis];
    copies.push_back(copy);
  }
  return makeCopies(std::move(copies), ctx);
}

// `x` is [batch, outer, extent, inner], the indices are [batch, count], and the
// result is [batch, outer, count, inner].
static StepFn makeGather(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x), *indices = op.operand(param::indices);
  llvm::ArrayRef<int64_t> shape = x->type.shape;
  int64_t axis = op.get(param::axis);
  axis += axis < 0 ? int64_t(shape.size()) : 0;
  auto product = [](llvm::ArrayRef<int64_t> extents) {
    return TensorType(DType::FP32, extents).numElements();
  };
  int64_t batch = product(shape.take_front(op.get(param::batchDims)));
  int64_t extent = shape[axis];
  size_t width = size_t(product(shape.drop_front(axis + 1)));
  if (batch == 0 || extent == 0)
    return {};
  int64_t outer = product(shape.take_front(axis)) / batch;
  int64_t count = indices->type.numElements() / batch;
  const uint32_t *table = ctx.storage.words(x);
  const int32_t *numbers = ctx.storage.ints(indices);
  uint32_t *out = ctx.storage.words(op.result());
  auto place = [=](int64_t number) {
    number += number < 0 ? extent : 0;
    // An index out of range reads the nearest row, as in the op's reference.
    return size_t(std::clamp<int64_t>(number, 0, extent - 1));
  };
  if (width == 1) {
    // Every block takes the same elements.
    auto places = std::make_shared<std::vector<uint32_t>>(batch * count);
    size_t grain = std::max<size_t>(1, 16384 / std::max<int64_t>(count, 1));
    return [=, &pool = ctx.pool] {
      std::transform(numbers, numbers + batch * count, places->begin(),
                     [=](int32_t number) { return uint32_t(place(number)); });
      auto copyBlock = [&](size_t block) {
        const uint32_t *from = table + block * size_t(extent);
        const uint32_t *taken =
            places->data() + block / size_t(outer) * size_t(count);
        uint32_t *to = out + block * size_t(count);
        for (size_t i = 0; i < size_t(count); ++i)
          to[i] = from[taken[i]];
      };
      pool.parallelRanges(size_t(batch * outer), grain,
                          [&](size_t begin, size_t end, unsigned) {
                            for (size_t block = begin; block < end; ++block)
                              copyBlock(block);
                          });
    };
  }
  size_t grain = std::max<size_t>(1, 16384 / std::max<size_t>(width, 1));
  return [=, &pool = ctx.pool] {
    auto copyRow = [&](int64_t row) {
      int64_t block = row / count;
      size_t number = place(numbers[block / outer * count + row % count]);
      std::memcpy(out + size_t(row) * width,
                  table + (size_t(block * extent) + number) * width, width * 4);
    };
    pool.parallelRanges(size_t(batch * outer * count), grain,
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t row = begin; row < end; ++row)
                            copyRow(int64_t(row));
                        });
  };
}

// A vector along the axis for each index; an index outside selects no element.
static StepFn makeOneHot(const Op &op, StepContext &ctx) {
  const Value *indices = op.operand(param::indices), *result = op.result();
  int64_t axis = op.get(param::axis);
  axis += axis < 0 ? int64_t(result->type.rank()) : 0;
  DType stored = storedType(result->type.dtype, ctx.rounding(result));
  uint32_t on, off;
  storeDoubles(stored, double(op.get(param::onValue)), &on);
  storeDoubles(stored, double(op.get(param::offValue)), &off);
  int64_t extent = result->type.shape[axis];
  int64_t inner =
      TensorType(DType::FP32,
                 llvm::ArrayRef(result->type.shape).drop_front(axis + 1))
          .numElements();
  size_t count = size_t(indices->type.numElements());
  const int32_t *numbers = ctx.storage.ints(indices);
  uint32_t *out = ctx.storage.words(result);
  size_t block = size_t(extent * inner);
  size_t blocks = block ? size_t(result->type.numElements()) / block : 0;
  if (count != blocks * size_t(inner))
    return {};
  size_t grain = std::max<size_t>(1, 16384 / std::max<size_t>(block, 1));
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(blocks, grain, [&](size_t begin, size_t end, unsigned) {
      std::fill(out + begin * block, out + end * block, off);
      for (size_t i = begin * size_t(inner); i < end * size_t(inner); ++i)
        if (numbers[i] >= 0 && numbers[i] < extent)
          out[i / size_t(inner) * block + size_t(numbers[i] * inner) +
              i % size_t(inner)] = on;
    });
  };
}

// Copies what is in the band of each row, between zeros.
static StepFn makeBandPart(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x);
  int64_t lower = op.get(param::lower), upper = op.get(param::upper);
  int64_t columns = x->type.shape.back();
  int64_t rows = x->type.shape[x->type.rank() - 2];
  if (x->type.numElements() == 0)
    return {};
  const uint32_t *from = ctx.storage.words(x);
  uint32_t *out = ctx.storage.words(op.result());
  int64_t allRows = x->type.numElements() / columns;
  auto copyRow = [=](int64_t number) {
    int64_t row = number % rows;
    int64_t begin =
        lower < 0 ? 0 : std::clamp<int64_t>(row - lower, 0, columns);
    int64_t end =
        upper < 0 ? columns : std::clamp<int64_t>(row + upper + 1, 0, columns);
    uint32_t *to = out + number * columns;
    end = std::max(begin, end);
    std::fill(to, to + begin, 0);
    std::copy(from + number * columns + begin, from + number * columns + end,
              to + begin);
    std::fill(to + end, to + columns, 0);
  };
  size_t grain = size_t(std::max<int64_t>(1, 8192 / columns));
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(size_t(allRows), grain,
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t row = begin; row < end; ++row)
                            copyRow(int64_t(row));
                        });
  };
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

// A copy, because a later write must not change what was read; StatesInPlace.h
// has what needs none.
static StepFn makeReadState(const Op &op, StepContext &ctx) {
  return makeCopy(op.operand(param::input), op.result(), ctx);
}

static StepFn makeWriteState(const Op &op, StepContext &ctx) {
  return makeCopy(op.operand(param::data), op.operand(param::input), ctx);
}

static constexpr StepRow movementStepsTable[] = {
    {&ops::BandPart, makeBandPart},
    {&ops::Concat, makeConcat},
    {&ops::Gather, makeGather},
    {&ops::OneHot, makeOneHot},
    {&ops::Pad, makePad},
    {&ops::ReadState, makeReadState},
    {&ops::Reverse, makeReverse},
    {&ops::SliceByIndex, makeSliceByIndex},
    {&ops::SliceBySize, makeSliceBySize},
    {&ops::SliceUpdate, makeSliceUpdate},
    {&ops::Split, makeSplit},
    {&ops::Stack, makeStack},
    {&ops::Tile, makeTile},
    {&ops::Transpose, makeTranspose},
    {&ops::WriteState, makeWriteState},
};

llvm::ArrayRef<StepRow> cpu::movementSteps() { return movementStepsTable; }
