//===- Gather.cpp - lookups -------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Negative indices count from the end; `positive-indices` writes them out for
/// Core ML, which takes none since ios17. Nothing defines the result of an
/// index outside of the table; the reference reads the nearest element. The
/// corresponding writes are in Scatter.cpp.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Gather.h"
#include "Decompose.h"
#include "Indices.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Scatter.h"
#include <numeric>

using namespace anec;

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

static bool inferGather(InferContext &ctx) {
  const TensorType &x = ctx.type(0), &indices = ctx.type(1);
  int64_t axis = ctx.get(param::axis), batch = ctx.get(param::batchDims);
  if (!ctx.normalizeAxis(axis, x.rank())) // C1
    return false;
  if (!checkRange(ctx, param::batchDims, 0,
                  std::min<int64_t>(axis, indices.rank()))) // C2
    return false;
  for (int64_t i = 0; i < batch; ++i)
    if (x.shape[i] != indices.shape[i]) // C3
      return ctx.fail(diag::BatchMismatch(ctx.opName(), ctx.describeOperand(0),
                                          ctx.describeOperand(1), i),
                      {0, 1});
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  shape.append(indices.shape.begin() + batch, indices.shape.end());
  shape.append(x.shape.begin() + axis + 1, x.shape.end());
  return ctx.result({x.dtype, shape});
}

/// x is [batch, outer, extent, inner], indices [batch, count], and the result
/// [batch, outer, count, inner].
static void evalGather(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &indices = *ctx.in[1];
  AxisView view =
      viewAxis(x.type.shape, normalized(ctx.get(param::axis), x.type.rank()));
  int64_t batch = 1;
  for (int64_t i = 0; i < ctx.get(param::batchDims); ++i)
    batch *= x.type.shape[i];
  int64_t count = int64_t(indices.data.size()) / batch;
  int64_t outer = view.outer / batch;
  auto to = ctx.out[0].data.begin();
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < count; ++i) {
      int64_t index =
          resolveIndex(indices.data[o / outer * count + i], view.extent);
      auto row = x.data.begin() + (o * view.extent + index) * view.inner;
      to = std::copy(row, row + view.inner, to);
    }
}

/// Scatters dy along the extent of x, seen as [batch, outer, extent, inner],
/// with an index for each element of the result.
static Value *gradientGatherBatched(Gradient &g) {
  AxisView view =
      viewAxis(g.shape(0), normalized(g.op.get(param::axis), g.rank(0)));
  int64_t batch = 1;
  for (int64_t i = 0; i < g.op.get(param::batchDims); ++i)
    batch *= g.shape(0)[i];
  int64_t outer = view.outer / batch;
  int64_t count = g.op.operand(1u)->type.numElements() / batch;
  Shape updates = {batch, outer, count, view.inner};
  Value *indices = g.reshape(g.toInt32(g.op.operand(1u)), {batch, 1, count, 1});
  Value *zeros = g.fill({batch, outer, view.extent, view.inner}, 0);
  return g.reshape(
      g.make(ops::ScatterAlongAxis,
             {zeros, g.spread(indices, updates), g.reshape(g.dy(), updates)},
             Attr(param::axis, 2)),
      g.shape(0));
}

/// An element that is read several times gets the sum of the gradients.
static void gradientGather(Gradient &g) {
  g.give(0, [&] {
    if (g.op.get(param::batchDims) != 0)
      return gradientGatherBatched(g);
    return g.make(ops::Scatter,
                  {g.fill(g.shape(0), 0), g.op.operand(1u), g.dy()},
                  Attr(param::axis, g.op.constant(param::axis)));
  });
}

static bool positionsGather(PositionFlow &f) {
  unsigned axis = PositionFlow::normalized(f.op.get(param::axis), f.rank(0));
  if ((f.in[0] && f.in[1]) || f.op.get(param::batchDims) != 0)
    return f.fail(positions::relates);
  if (f.in[1])
    return f.keep(axis + *f.in[1]);
  if (*f.in[0] == axis)
    return f.fail(positions::takesPart);
  return f.keep(*f.in[0] < axis ? *f.in[0] : *f.in[0] + f.rank(1) - 1);
}

constinit const OpDef ops::Gather = {
    .name = "gather",
    .summary =
        "The slices of `x` along `axis` selected by `indices`. The first "
        "`batch_dims` axes are batch axes of both. Negative indices count from "
        "the end. An index out of range is an error if it is a constant; of "
        "others, anec selects the nearest slice, and Core ML anything.",
    .family = "gather",
    .params = {value(param::x, movableTypes),
               value(param::indices, indexTypes, 'I'),
               integer(param::axis, "0"),
               since(16, integer(param::batchDims, "0")),
               since(17, boolean(param::validateIndices, "false"))},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`axis` is an axis of `x`",
                    "`batch_dims` is 0 to `axis`, and at most the rank of "
                    "`indices`",
                    "the first `batch_dims` extents agree"},
    .infer = inferGather,
    .eval = evalGather,
    .gradient = gradientGather,
    .positions = positions::ofSeveral(positionsGather),
};

//===----------------------------------------------------------------------===//
// gather_along_axis
//===----------------------------------------------------------------------===//

bool anec::checkAlongAxis(InferContext &ctx) {
  const TensorType &data = ctx.type(0), &indices = ctx.type(1);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, data.rank()) ||
      !checkRank(ctx, 1, data.rank(), data.rank()))
    return false;
  Shape expected = data.shape;
  expected[axis] = indices.shape[axis];
  return checkShape(ctx, 1, expected);
}

static bool inferGatherAlongAxis(InferContext &ctx) {
  return checkAlongAxis(ctx) && // C1, C2
         ctx.result({ctx.type(0).dtype, ctx.type(1).shape});
}

static void evalGatherAlongAxis(EvalContext &ctx) {
  forEachAlongAxis(ctx, [&](int64_t to, int64_t at) {
    ctx.out[0].data[to] = ctx.in[0]->data[at];
  });
}

static void gradientGatherAlongAxis(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::ScatterAlongAxis,
                  {g.fill(g.shape(0), 0), g.op.operand(1u), g.dy()},
                  Attr(param::axis, g.op.constant(param::axis)));
  });
}

static bool positionsGatherAlongAxis(PositionFlow &f) {
  std::optional<unsigned> fromEnd = f.align();
  if (!fromEnd)
    return f.fail(positions::relates);
  unsigned rank = f.rank(0), axis = rank - 1 - *fromEnd;
  if (PositionFlow::normalized(f.op.get(param::axis), rank) == axis)
    return f.fail(positions::takesPart);
  return f.keep(axis);
}

constinit const OpDef ops::GatherAlongAxis = {
    .name = "gather_along_axis",
    .summary = "The elements of `x` at the positions of `indices`, with the "
               "position along `axis` replaced by the index.",
    .family = "gather",
    .params = {value(param::x, movableTypes),
               value(param::indices, indexTypes, 'I'),
               integer(param::axis, "0"),
               since(17, boolean(param::validateIndices, "false"))},
    .traits = trait::Mil | trait::DataMovement | trait::AlongAxis,
    .constraints = {"`axis` is an axis of `x`",
                    "`indices` have the shape of `x` except at `axis`"},
    .infer = inferGatherAlongAxis,
    .eval = evalGatherAlongAxis,
    .gradient = gradientGatherAlongAxis,
    .positions = positions::ofSeveral(positionsGatherAlongAxis),
};

//===----------------------------------------------------------------------===//
// gather_nd
//===----------------------------------------------------------------------===//

bool anec::checkIndexDepth(InferContext &ctx, int64_t batchDims) {
  int64_t depth = ctx.type(1).shape.back();
  return batchDims + depth <= int64_t(ctx.type(0).rank()) ||
         ctx.fail(diag::IndexDepth(ctx.opName(), ctx.describeOperand(0),
                                   ctx.describeOperand(1), depth, batchDims),
                  {0, 1});
}

static bool inferGatherNd(InferContext &ctx) {
  const TensorType &x = ctx.type(0), &indices = ctx.type(1);
  if (!checkRank(ctx, 1, 1, UINT_MAX)) // C1
    return false;
  int64_t batch = ctx.get(param::batchDims);
  if (!checkRange(ctx, param::batchDims, 0,
                  std::min(x.rank(), indices.rank() - 1)) || // C2
      !checkIndexDepth(ctx, batch))                          // C3
    return false;
  for (int64_t i = 0; i < batch; ++i)
    if (x.shape[i] != indices.shape[i]) // C4
      return ctx.fail(diag::BatchMismatch(ctx.opName(), ctx.describeOperand(0),
                                          ctx.describeOperand(1), i),
                      {0, 1});
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.append(x.shape.begin() + batch + indices.shape.back(), x.shape.end());
  return ctx.result({x.dtype, shape});
}

static void evalGatherNd(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  auto to = ctx.out[0].data.begin();
  forEachIndexed(*ctx.in[1], x.type.shape, ctx.get(param::batchDims),
                 [&](int64_t at, int64_t count) {
                   to = std::copy_n(x.data.begin() + at, count, to);
                 });
}

/// The position in the batch becomes part of the indices, since scatter_nd has
/// no batch axes.
static void gradientGatherNd(Gradient &g) {
  for (int64_t axis = 0; axis < g.op.get(param::batchDims); ++axis)
    if (!g.canBake(g.shape(0)[axis]))
      return;
  g.give(0, [&] {
    Value *indices = g.op.operand(1u);
    int64_t batch = g.op.get(param::batchDims);
    Shape place = indices->type.shape;
    place.back() = 1;
    llvm::SmallVector<Value *, 4> parts;
    for (int64_t axis = 0; axis < batch; ++axis) {
      Shape numbers(place[axis]), shape(place.size(), 1);
      shape[axis] = place[axis];
      std::iota(numbers.begin(), numbers.end(), 0);
      parts.push_back(g.spread(g.indices(shape, numbers), place));
    }
    parts.push_back(batch ? g.toInt32(indices) : indices);
    return g.make(ops::ScatterNd,
                  {g.fill(g.shape(0), 0),
                   g.concat(parts, int64_t(place.size()) - 1), g.dy()});
  });
}

constinit const OpDef ops::GatherNd = {
    .name = "gather_nd",
    .summary = "The slices of `x` selected by the rows of `indices`, each of "
               "which holds the leading indices of a slice. The first "
               "`batch_dims` axes are batch axes of both.",
    .family = "gather",
    .params = {value(param::x, movableTypes),
               value(param::indices, indexTypes, 'I'),
               since(16, integer(param::batchDims, "0")),
               since(17, boolean(param::validateIndices, "false"))},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`indices` is not a scalar",
                    "`batch_dims` is 0 to the rank of `x`, and less than that "
                    "of `indices`",
                    "rows of `indices` have at most as many elements as `x` "
                    "has axes after `batch_dims`",
                    "the first `batch_dims` extents agree"},
    .infer = inferGatherNd,
    .eval = evalGatherNd,
    .gradient = gradientGatherNd,
    .positions = {positions::moved},
};

//===----------------------------------------------------------------------===//
// embed
//===----------------------------------------------------------------------===//

static bool inferEmbed(InferContext &ctx) {
  const TensorType &table = ctx.type(0), &indices = ctx.type(1);
  if (!checkRank(ctx, 0, 2, 2) || // C1
      !checkRank(ctx, 1, 1, 2))   // C2
    return false;
  Shape shape = indices.shape;
  shape.insert(shape.end() - 1, table.shape[1]);
  return ctx.result({table.dtype, shape});
}

static void evalEmbed(EvalContext &ctx) {
  const RefTensor &table = *ctx.in[0], &indices = *ctx.in[1];
  int64_t rows = table.type.shape[0], dim = table.type.shape[1];
  int64_t count = indices.type.shape.back();
  for (size_t i = 0; i < indices.data.size(); ++i) {
    int64_t row = resolveIndex(indices.data[i], rows);
    int64_t first = int64_t(i) / count * dim * count + int64_t(i) % count;
    for (int64_t d = 0; d < dim; ++d)
      ctx.out[0].data[first + d * count] = table.data[row * dim + d];
  }
}

/// The last two axes of a tensor of `rank`, exchanged.
static Shape columnsToRows(unsigned rank) {
  return rank == 2 ? Shape{1, 0} : Shape{0, 2, 1};
}

static void decomposeEmbed(Builder &builder, const Op &op,
                           llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Value *rows = d.make(ops::Gather, {op.operand(0u), op.operand(1u)}, "rows");
  results.push_back(d.transpose(rows, columnsToRows(rows->type.rank())));
}

/// Adds the columns of dy to the rows of the table that they were read from.
static void gradientEmbed(Gradient &g) {
  g.give(0, [&] {
    Value *dy = g.dy();
    return g.make(ops::Scatter,
                  {g.fill(g.shape(0), 0), g.op.operand(1u),
                   g.transpose(dy, columnsToRows(dy->type.rank()))});
  });
}

/// A column for each index.
static bool positionsEmbed(PositionFlow &f) {
  return f.in[0] ? f.fail(positions::relates) : f.keep(1);
}

constinit const OpDef ops::Embed = {
    .name = "embed",
    .summary =
        "The rows of `table` selected by `indices`, as columns: [dim, "
        "count], or [batch, dim, count] for [batch, count]. Indices have "
        "the same meaning as in `gather`, but Core ML takes no negative ones.",
    .family = "gather",
    .params = {value(param::table, floats, 'T', "[rows, dim]"),
               value(param::indices, {DType::Int32}, 'I', "[count]")},
    .traits = trait::DataMovement,
    .constraints = {"`table` has rank 2",
                    "`indices` have rank 1, or 2 with a batch"},
    .infer = inferEmbed,
    .eval = evalEmbed,
    .decompose = decomposeEmbed,
    .gradient = gradientEmbed,
    .positions = positions::ofSeveral(positionsEmbed),
};
