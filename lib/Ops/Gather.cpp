//===- Gather.cpp - lookups -------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What an index outside the table gives is left open by MIL; the reference
/// takes the nearest element.
///
//===----------------------------------------------------------------------===//

#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"

using namespace anec;

static constexpr DTypeSet indexTypes = {DType::Int8, DType::Int16, DType::Int32,
                                        DType::UInt8, DType::UInt16};

/// Index `i` of an axis of `extent` elements; negative ones count from the end.
static int64_t resolveIndex(double i, int64_t extent) {
  return std::clamp<int64_t>(normalized(int64_t(i), extent), 0, extent - 1);
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

static bool inferGather(InferContext &ctx) {
  const TensorType &x = ctx.type(0), &indices = ctx.type(1);
  int64_t axis = ctx.intAttr("axis"), batch = ctx.intAttr("batch_dims");
  if (!ctx.normalizeAxis(axis, x.rank())) // C1
    return false;
  if (!checkRange(ctx, "batch_dims", 0,
                  std::min<int64_t>(axis, indices.rank()))) // C2
    return false;
  for (int64_t i = 0; i < batch; ++i)
    if (x.shape[i] != indices.shape[i]) // C3
      return ctx.fail(diag::BatchMismatch,
                      {ctx.def.name.str(), ctx.describeOperand(0),
                       ctx.describeOperand(1), std::to_string(i)},
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
      viewAxis(x.type.shape, normalized(ctx.intAttr("axis"), x.type.rank()));
  int64_t batch = 1;
  for (int64_t i = 0; i < ctx.intAttr("batch_dims"); ++i)
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

constinit const OpDef ops::Gather = {
    .name = "gather",
    .summary = "The slices of `x` along `axis` that `indices` name; the first "
               "`batch_dims` axes of both go together. Negative indices count "
               "from the end.",
    .family = "gather",
    .params = {value("x", movableTypes), value("indices", indexTypes, 'I'),
               integer("axis", "0"), since(16, integer("batch_dims", "0")),
               since(17, boolean("validate_indices", "false"))},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`axis` is an axis of `x`",
                    "`batch_dims` is 0 to `axis`, and at most the rank of "
                    "`indices`",
                    "the first `batch_dims` extents agree"},
    .infer = inferGather,
    .eval = evalGather,
};

//===----------------------------------------------------------------------===//
// embed
//===----------------------------------------------------------------------===//

static bool inferEmbed(InferContext &ctx) {
  const TensorType &table = ctx.type(0), &indices = ctx.type(1);
  return checkRank(ctx, 0, 2, 2) && // C1
         checkRank(ctx, 1, 1, 1) && // C2
         ctx.result({table.dtype, {table.shape[1], indices.shape[0]}});
}

static void evalEmbed(EvalContext &ctx) {
  const RefTensor &table = *ctx.in[0], &indices = *ctx.in[1];
  int64_t rows = table.type.shape[0], dim = table.type.shape[1];
  int64_t count = indices.type.shape[0];
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = resolveIndex(indices.data[i], rows);
    for (int64_t d = 0; d < dim; ++d)
      ctx.out[0].data[d * count + i] = table.data[row * dim + d];
  }
}

static void decomposeEmbed(Builder &builder, const Op &op,
                           llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Value *rows = d.make(ops::Gather, {op.operand(0u), op.operand(1u)}, "rows");
  results.push_back(d.transpose(rows, {1, 0}));
}

constinit const OpDef ops::Embed = {
    .name = "embed",
    .summary = "The rows of `table` that `indices` name, as columns: "
               "[dim, count].",
    .family = "gather",
    .params = {value("table", floats, 'T', "[rows, dim]"),
               value("indices", {DType::Int32}, 'I', "[count]")},
    .traits = trait::DataMovement,
    .constraints = {"`table` has rank 2", "`indices` have rank 1"},
    .infer = inferEmbed,
    .eval = evalEmbed,
    .decompose = decomposeEmbed,
};
