//===- Scatter.cpp - elements written to indices --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Scatter.h"
#include "../Families.h"
#include "AlongAxis.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::onnx;

/// The mode of the attribute `reduction`, which names it as MIL does.
static ScatterMode modeOf(Node &n) {
  StringRef reduction = n.knows("reduction") ? n.attrText("reduction", "none")
                                             : StringRef("none");
  if (reduction == "none")
    return ScatterMode::Update;
  auto mode = parseWord<ScatterMode>(reduction);
  if (mode == ScatterMode::Add || mode == ScatterMode::Mul ||
      mode == ScatterMode::Max || mode == ScatterMode::Min)
    return *mode;
  n.fail("`reduction` of `" + n.op() +
         "` must be `none`, `add`, `mul`, `max` or `min`");
  return ScatterMode::Update;
}

/// Indices from 0 on: those below 0 count from the end.
static Val fromStart(Emitter &e, Val indices, Val extent) {
  Val negative = e.make(ops::Less, {indices, e.scalar(DType::Int32, 0)});
  return e.select(negative, e.add(indices, extent), indices);
}

static void readScatterNd(Node &n) {
  Val data = n.in(0), indices = n.in(1), updates = n.in(2);
  ScatterMode mode = modeOf(n);
  if (!data || !indices || !updates || n.failed())
    return;
  int64_t depth = indices.dim(-1);
  if (indices.rank() == 0 || depth > data.rank())
    return n.fail("rows of indices have more elements than the data has axes");
  Shape extents(data.shape().begin(), data.shape().begin() + depth);
  DType wide = Emitter::wideOf(data);
  indices = n.e.cast(indices, DType::Int32);
  indices = fromStart(n.e, indices, n.e.list(extents));
  Val scattered = n.e.make(
      ops::ScatterNd, {n.e.cast(data, wide), indices, n.e.cast(updates, wide)},
      {{param::scatterMode, mode}});
  n.out(n.e.cast(scattered, data.dtype()));
}

/// The position of each index: [number of indices, rank].
static Val rowsOf(Emitter &e, Val indices, int64_t axis) {
  Vals columns;
  for (int64_t other = 0; other != indices.rank(); ++other)
    columns.push_back(e.reshape(
        other == axis ? indices : positionsOf(e, indices.shape(), other),
        {indices.size(), 1}));
  return e.concat(columns, 1);
}

static void readScatterElements(Node &n) {
  Val data = n.in(0), indices = n.in(1), updates = n.in(2);
  ScatterMode mode = modeOf(n);
  if (!data || !indices || !updates || n.failed())
    return;
  if (data.rank() == 0 || data.rank() != indices.rank())
    return n.fail("indices must have the rank of the data");
  int64_t axis = n.axis(0, data.rank());
  if (n.failed() || !checkIndices(n, indices, data.dim(axis)))
    return;
  Emitter &e = n.e;
  DType wide = Emitter::wideOf(data);
  Val target = e.cast(data, wide), source = e.cast(updates, wide);
  indices = e.cast(indices, DType::Int32);
  Val extent = e.scalar(DType::Int32, double(data.dim(axis)));
  indices = fromStart(e, indices, extent);
  Shape whole = data.shape();
  whole[axis] = indices.dim(axis);
  if (whole != indices.shape() && !n.affords({indices.rank(), indices.size()}))
    return;
  Val result;
  if (whole == indices.shape())
    result = e.make(ops::ScatterAlongAxis, {target, indices, source},
                    {{param::axis, axis}, {param::scatterMode, mode}});
  else
    result = e.make(
        ops::ScatterNd,
        {target, rowsOf(e, indices, axis), e.reshape(source, {source.size()})},
        {{param::scatterMode, mode}});
  n.out(e.cast(result, data.dtype()));
}

/// Zeros, with each element at the position that MaxPool has given for it.
static void readMaxUnpool(Node &n) {
  Val x = n.in(0), indices = n.in(1);
  Shape kernel = n.attrInts("kernel_shape"), strides = n.attrInts("strides");
  Shape pads = n.attrInts("pads");
  if (!x || !indices)
    return;
  size_t spatial = x.rank() > 2 ? size_t(x.rank() - 2) : 0;
  if (kernel.size() != spatial ||
      (!strides.empty() && strides.size() != spatial) ||
      (!pads.empty() && pads.size() != 2 * spatial))
    return n.fail("`kernel_shape`, `strides` and `pads` must match the axes of "
                  "the input");
  Shape inferred = x.shape();
  for (size_t i = 0; i != spatial; ++i) {
    int64_t stride = strides.empty() ? 1 : strides[i];
    int64_t padding = pads.empty() ? 0 : pads[i] + pads[spatial + i];
    inferred[i + 2] =
        (x.dim(int64_t(i) + 2) - 1) * stride + kernel[i] - padding;
    if (inferred[i + 2] < 1)
      return n.fail("the output has no elements");
  }
  Shape shape = n.has(2) ? n.ints(2) : inferred;
  if (n.failed())
    return;
  if (shape.size() != inferred.size())
    return n.fail("`output_shape` must have the rank of the input");
  Emitter &e = n.e;
  // Indices count elements of an output of the inferred shape: [0] for all
  // images and channels.
  Shape flat = {TensorType(x.dtype(), inferred).numElements()};
  Val filled =
      e.make(ops::Scatter,
             {e.filled(x.dtype(), flat, 0),
              e.reshape(indices, {indices.size()}), e.reshape(x, {x.size()})},
             {{param::axis, 0}, {param::scatterMode, ScatterMode::Update}});
  Val result = e.reshape(filled, inferred);
  for (size_t i = 0; i != shape.size(); ++i) {
    int64_t axis = int64_t(i);
    if (shape[i] < inferred[i])
      return n.fail("`output_shape` is smaller than what is written");
    if (shape[i] == inferred[i])
      continue;
    Shape rest = result.shape();
    rest[i] = shape[i] - inferred[i];
    result = e.concat({result, e.filled(x.dtype(), rest, 0)}, axis);
  }
  n.out(result);
}

static constexpr OpRow scatterTable[] = {
    {.name = "MaxUnpool", .read = readMaxUnpool, .since = 9},
    {.name = "Scatter", .read = readScatterElements, .since = 9},
    {.name = "ScatterElements", .read = readScatterElements, .since = 11},
    {.name = "ScatterND", .read = readScatterNd, .since = 11},
};

llvm::ArrayRef<OpRow> onnx::scatterRows() { return scatterTable; }
