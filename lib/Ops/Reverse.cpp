//===- Reverse.cpp - mirrored axes and windows ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Reverse.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Params/Sequences.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Scatter.h"

namespace anec::param {
ANEC_PARAM(windowStride, "stride", Int)
} // namespace anec::param

using namespace anec;

//===----------------------------------------------------------------------===//
// reverse, reverse_sequence
//===----------------------------------------------------------------------===//

static bool inferReverse(InferContext &ctx) {
  Shape axes = ctx.get(param::axes);
  return normalizeAxes(ctx, axes, ctx.type(0).rank()) && inferSame(ctx); // C1
}

static void evalReverse(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  Shape strides = rowMajorStrides(x.type.shape), from = strides;
  const double *last = x.data.data();
  for (int64_t axis : normalized(ctx.get(param::axes), x.type.rank())) {
    last += (x.type.shape[axis] - 1) * strides[axis];
    from[axis] = -strides[axis];
  }
  copyElements(x.type.shape, last, from, ctx.out[0].data.data(), strides);
}

static void gradientReverse(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::Reverse, {g.dy()},
                  Attr(param::axes, g.op.constant(param::axes)));
  });
}

constinit const OpDef ops::Reverse = {
    .name = "reverse",
    .summary = "Reverses `x` along `axes`.",
    .family = "shape",
    .params = {value(param::x, movableTypes), integers(param::axes, "all")},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`axes` are distinct axes of `x`"},
    .infer = inferReverse,
    .eval = evalReverse,
    .gradient = gradientReverse,
    .positions = {positions::alongAxes},
};

static bool inferReverseSequence(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  int64_t sequence = ctx.get(param::seqAxis), batch = ctx.get(param::batchAxis);
  if (!ctx.normalizeAxis(sequence, x.rank()) || // C1
      !ctx.normalizeAxis(batch, x.rank()))      // C1
    return false;
  if (sequence == batch) // C2
    return ctx.fail(diag::AxisRepeated(ctx.opName(), batch));
  return checkShape(ctx, 1, x.shape[batch]) && inferSame(ctx); // C3
}

static void evalReverseSequence(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &lengths = *ctx.in[1];
  unsigned rank = x.type.rank();
  AxisView sequence =
      viewAxis(x.type.shape, normalized(ctx.get(param::seqAxis), rank));
  AxisView batch =
      viewAxis(x.type.shape, normalized(ctx.get(param::batchAxis), rank));
  for (size_t i = 0; i < x.data.size(); ++i) {
    int64_t at = int64_t(i) / sequence.inner % sequence.extent;
    int64_t length = std::clamp<int64_t>(
        int64_t(lengths.data[int64_t(i) / batch.inner % batch.extent]), 0,
        sequence.extent);
    int64_t from = at < length ? length - 1 - at : at;
    ctx.out[0].data[i] = x.data[int64_t(i) + (from - at) * sequence.inner];
  }
}

static void gradientReverseSequence(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::ReverseSequence, {g.dy(), g.op.operand(1u)},
                  {{param::seqAxis, g.op.constant(param::seqAxis)},
                   {param::batchAxis, g.op.constant(param::batchAxis)}});
  });
}

constinit const OpDef ops::ReverseSequence = {
    .name = "reverse_sequence",
    .summary = "Reverses the first `lengths`[i] elements of `x` along "
               "`seq_axis`, for element i of `batch_axis`.",
    .family = "shape",
    .params = {value(param::x, movableTypes),
               value(param::lengths, shapeTypes, 'U'),
               integer(param::seqAxis, "0"), integer(param::batchAxis, "0")},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`seq_axis` and `batch_axis` are axes of `x`",
                    "`seq_axis` and `batch_axis` differ",
                    "there is a length for each element of `batch_axis`"},
    .infer = inferReverseSequence,
    .eval = evalReverseSequence,
    .gradient = gradientReverseSequence,
    .positions = {positions::moved},
};

//===----------------------------------------------------------------------===//
// sliding_windows
//===----------------------------------------------------------------------===//

static bool inferSlidingWindows(InferContext &ctx) {
  TensorType type = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, type.rank()) ||                    // C1
      !checkRange(ctx, param::windowSize, 1, type.shape[axis]) || // C2
      !checkRange(ctx, param::windowStride, 1))                   // C3
    return false;
  int64_t size = ctx.get(param::windowSize);
  type.shape[axis] =
      (type.shape[axis] - size) / ctx.get(param::windowStride) + 1;
  type.shape.insert(type.shape.begin() + axis + 1, size);
  return ctx.result(type);
}

static void evalSlidingWindows(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  int64_t axis = normalized(ctx.get(param::axis), x.type.rank());
  Shape from = rowMajorStrides(x.type.shape);
  from.insert(from.begin() + axis, from[axis] * ctx.get(param::windowStride));
  copyElements(out.type.shape, x.data.data(), from, out.data.data(),
               rowMajorStrides(out.type.shape));
}

/// dx sums the gradients of each element over all windows.
static void gradientSlidingWindows(Gradient &g) {
  int64_t axis = normalized(g.op.get(param::axis), g.rank(0));
  int64_t size = g.op.get(param::windowSize),
          stride = g.op.get(param::windowStride);
  int64_t windows = g.op.result()->type.shape[axis];
  if (!g.canBake({windows, size}))
    return;
  Shape sources, updates = g.shape(0);
  for (int64_t window = 0; window < windows; ++window)
    for (int64_t i = 0; i < size; ++i)
      sources.push_back(window * stride + i);
  updates[axis] = windows * size;
  g.give(0, [&] {
    return g.make(ops::Scatter,
                  {g.fill(g.shape(0), 0), g.indices(windows * size, sources),
                   g.reshape(g.dy(), updates)},
                  Attr(param::axis, axis));
  });
}

constinit const OpDef ops::SlidingWindows = {
    .name = "sliding_windows",
    .summary = "All windows of `size` elements along `axis`, `stride` apart. "
               "The elements of a window are on a new axis after `axis`.",
    .family = "shape",
    .params = {value(param::x, movableTypes), integer(param::axis),
               integer(param::windowSize), integer(param::windowStride, "1")},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`axis` is an axis of `x`",
                    "`size` is 1 to the extent at `axis`",
                    "`stride` is at least 1"},
    .infer = inferSlidingWindows,
    .eval = evalSlidingWindows,
    .gradient = gradientSlidingWindows,
    .positions = {positions::neighbors},
};
